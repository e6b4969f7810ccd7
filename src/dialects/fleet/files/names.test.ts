import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundleName, helmReleaseName, safeConcatName } from './names.ts'

const a = (count: number): string => 'a'.repeat(count)

test('bundles and releases are called as Fleet calls them', () => {
  const table: [string, string][] = [
    [bundleName('repo', '.'), 'repo'],
    [bundleName('repo', 'apps/web'), 'repo-apps-web'],
    [bundleName('repo', './a'), 'repo-a'],
    [bundleName('repo', '/a/'), 'repo-a'],
    [bundleName('repo', 'a/../b'), 'repo-b'],
    [bundleName('repo', 'Apps/Web'), 'repo-apps-web-7de91329'],
    [bundleName('repo', 'apps_web'), 'repo-apps-web-0765c440'],
    [bundleName('repo', 'apps.web'), 'repo-apps-web-5fb15198'],
    [bundleName('repo', 'a b'), 'repo-a-b-658bda9e'],
    [bundleName('repo', 'été'), 'repo-t-55af1154'],
    [bundleName('repo', 'a--b'), 'repo-a-b'],
    [bundleName('repo', '-a-'), 'repo-a'],
    [helmReleaseName('___'), '948a13f1'],
    [helmReleaseName('.'), '5058f1af'],
    [helmReleaseName('---'), '9efc314b65237d5d646e1b81'],
    [helmReleaseName(''), 'd41d8cd98f00b204e9800998'],
    [helmReleaseName(a(53)), a(53)],
    [helmReleaseName(a(54)), `${a(47)}-eced9`],
    [helmReleaseName(`${a(46)}-bbbbbbb`), `${a(46)}-c57e5`],
    [helmReleaseName('my.dotted'), 'my-dotted-7c977492'],
    [helmReleaseName('b'.repeat(63)), `${'b'.repeat(47)}-2270d`],
    [
      bundleName('repo', 'This_Is/a/Very.Long/path/that/needs/more/than/fifty-three/characters'),
      'repo-this-is-a-very-long-path-that-needs-more-t-007e7',
    ],
    [
      bundleName('my-gitrepo', 'clusters/production/europe/west/applications/monitoring/prometheus'),
      'my-gitrepo-clusters-production-europe-west-appl-ac4e6',
    ],
    [
      bundleName('my-gitrepo', 'clusters/production/europe/west/applications/monitoring/prometheus2'),
      'my-gitrepo-clusters-production-europe-west-appl-2921a',
    ],
    [bundleName('repo', 'a', 'dev.yaml'), 'repo-a-dev'],
    [bundleName('repo', 'a', 'o/dev.yaml'), 'repo-a-o-dev'],
    [bundleName('repo', 'a', '../o/dev.yaml'), 'repo-o-dev'],
  ]
  for (const [is, should] of table) assert.equal(is, should)
})

test('other names are joined and cut at 63 characters', () => {
  assert.equal(safeConcatName('a', 'b'), 'a-b')
  assert.equal(safeConcatName(a(63)), a(63))
  assert.match(safeConcatName(a(64)), /^a{57}-[0-9a-f]{5}$/)
  assert.match(safeConcatName(`${a(56)}-${a(7)}`), /^a{56}-[0-9a-f]{6}$/)
})
