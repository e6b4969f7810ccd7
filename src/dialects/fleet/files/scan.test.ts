/**
 * Rows S, I and B of what Fleet was seen to do; where Fleet is wrong (S15, S16, S25, I6) the row says what is right.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Finding } from '../../read-fields.ts'
import { findingText } from '../../read-fields.ts'
import { scanRepository } from './scan.ts'
import type { ScanRequest } from './scan.ts'

function scan(tree: readonly string[] | Readonly<Record<string, string>>, request: Partial<ScanRequest> = {}) {
  const texts: Record<string, string> = Array.isArray(tree)
    ? Object.fromEntries(tree.map((path) => [path, '{}']))
    : { ...tree }
  const findings: Finding[] = []
  const bundles = scanRepository(
    { paths: Object.keys(texts).sort(), text: (path) => texts[path] },
    { gitRepo: 'repo', ...request },
    findings,
  )
  const shown = bundles.map(({ name, files }) => `${name}: ${files.join(' ')}`)
  return { shown, bundles, findings: findings.map(findingText) }
}

const F = 'fleet.yaml'

test('which directories are bundles', () => {
  const table: [string, string[], string[]][] = [
    ['S1', ['cm.yaml'], ['repo: cm.yaml']],
    ['S2', ['cm.json'], []],
    ['S2', ['README.md'], []],
    ['S3', ['a/b/cm.yml'], ['repo: a/b/cm.yml']],
    ['S4', ['a/cm.yaml', 'b/cm.yaml'], ['repo: a/cm.yaml b/cm.yaml']],
    ['S5', [`a/${F}`, 'a/cm.yaml', `b/${F}`, 'b/cm.yaml'], ['repo-a: cm.yaml', 'repo-b: cm.yaml']],
    ['S6', ['README.md', `a/${F}`, 'a/cm.yaml'], ['repo-a: cm.yaml']],
    ['S7', [`a/${F}`, 'a/cm.yaml', 'b/cm.yaml'], [`repo: a/cm.yaml a/${F} b/cm.yaml`, 'repo-a: cm.yaml']],
    ['S8', [F, 'cm.yaml', `a/${F}`, 'a/cm.yaml'], [`repo: a/cm.yaml a/${F} cm.yaml`, 'repo-a: cm.yaml']],
    ['S9', [`a/${F}`, 'a/deep/cm.yaml'], ['repo-a: deep/cm.yaml']],
    [
      'S10',
      [`a/${F}`, 'a/cm.yaml', `a/b/${F}`, 'a/b/cm.yaml'],
      [`repo-a: b/cm.yaml b/${F} cm.yaml`, 'repo-a-b: cm.yaml'],
    ],
    ['S13', [`a/${F}`, 'a/fleet.yml'], ['repo-a: fleet.yml']],
    ['S14', [`.h/${F}`, '.h/cm.yaml'], []],
    ['S15', [`.h/a/${F}`, '.h/a/cm.yaml'], []],
    ['S16', ['.github/workflows/ci.yaml', `a/${F}`, 'a/cm.yaml'], ['repo-a: cm.yaml']],
  ]
  for (const [row, tree, expected] of table) assert.deepEqual(scan(tree).shown, expected, row)
})

test('what a parent bundle does not deploy: nested bundles, its own fleet.yaml, ignored files', () => {
  const { bundles } = scan([F, 'cm.yaml', `a/${F}`, 'a/cm.yaml', `a/b/${F}`])
  assert.deepEqual(bundles[0]!.ignored, ['a', F])
})

test('paths and globs', () => {
  const tree = [`a1/${F}`, 'a1/x.yaml', `a2/${F}`, 'a2/x.yaml', `b/${F}`, 'b/x.yaml']
  assert.deepEqual(scan(tree, { paths: ['a*'] }).shown, ['repo-a1: x.yaml', 'repo-a2: x.yaml'])
  const stars = scan([`x/y/${F}`, 'x/y/cm.yaml', 'cm.yaml'], { paths: ['**'] })
  assert.deepEqual(stars.shown, ['repo-x-y: cm.yaml'], 'S19')
  assert.deepEqual(scan(tree, { paths: ['nope', 'b'] }), {
    shown: ['repo-b: x.yaml'],
    bundles: scan(tree, { paths: ['b'] }).bundles,
    findings: ['spec.paths: "nope" is not a directory of the repository'],
  })
  assert.deepEqual(scan(tree, { paths: ['[a'] }).findings, ['spec.paths: "[a" is not a valid path glob'])
  assert.deepEqual(scan(tree, { paths: ['..'] }).findings, ['spec.paths: ".." leaves the repository'])
  assert.deepEqual(scan(tree, { paths: ['.', 'a1', './a1/'] }).shown.length, 3, 'S24: each once')
  assert.deepEqual(scan(tree, { paths: ['a1/x.yaml'] }).shown, [], 'S21: a file is no directory')
})

test('.fleetignore', () => {
  const files = (tree: Record<string, string>): string => scan({ [F]: '{}', ...tree }).shown[0] ?? ''
  assert.equal(
    files({ '.fleetignore': '*.md\nd/*\n', 'a.md': '', 'x/b.md': '', 'd/c.yaml': '', 'x/d/e.yaml': '', 'f.yaml': '' }),
    'repo: f.yaml',
    'I1',
  )
  assert.equal(files({ '.fleetignore': 'd', d: '', 'x/d/a.yaml': '', 'f.yaml': '' }), 'repo: f.yaml', 'I2')
  assert.equal(files({ '.fleetignore': 'a/b.yaml\na/', 'a/b.yaml': '' }), 'repo: a/b.yaml', 'I3')
  assert.equal(files({ '.fleetignore': '*.yaml\n!k.yaml', 'k.yaml': '', 'z.txt': '' }), 'repo: z.txt', 'I4')
  assert.equal(
    files({
      's/.fleetignore': 'a.yaml',
      's/a.yaml': '',
      's/t/a.yaml': '',
      'a.yaml': '',
      'u/a.yaml': '',
      's2/a.yaml': '',
    }),
    'repo: a.yaml s2/a.yaml u/a.yaml',
    'I5, and I6 as it should be',
  )
  assert.equal(files({ '.fleetignore': 'e/*', e: '', 'x/e/f.yaml': '' }), 'repo: e', 'directories only')
  const inherited = scan({ '.fleetignore': 'cm.yaml', [`b/${F}`]: '{}', 'b/cm.yaml': '' })
  assert.deepEqual(inherited.shown, ['repo-b: cm.yaml'], 'I7')
  const parent = scan({ '.fleetignore': 'b', [F]: '{}', 'c.yaml': '', [`b/${F}`]: '{}', 'b/cm.yaml': '' })
  assert.deepEqual(parent.shown, ['repo: c.yaml', 'repo-b: cm.yaml'], 'I8')
  assert.equal(
    files({ '.fleetignore': '# x\n\n a.yaml  \nb.yaml   ', 'b.yaml': '', 'c.yaml': '' }),
    'repo: c.yaml',
    'I9',
  )
})

test('the driven scan takes exactly what it names', () => {
  const one = scan([`a/${F}`, 'a/cm.yaml', `a/b/${F}`, 'a/b/cm.yaml'], { bundles: [{ base: 'a' }] })
  assert.deepEqual(one.shown, [`repo-a: b/cm.yaml b/${F} cm.yaml`], 'B1')
  const tree = ['a/cm.yaml', 'a/dev.yaml', 'a/prod.yaml', 'a/o/dev.yaml', 'o/dev.yaml']
  const two = scan(tree, {
    bundles: [
      { base: 'a', options: 'dev.yaml' },
      { base: 'a', options: 'prod.yaml' },
    ],
  })
  assert.deepEqual(
    two.shown,
    ['repo-a-dev: cm.yaml o/dev.yaml prod.yaml', 'repo-a-prod: cm.yaml dev.yaml o/dev.yaml'],
    'B2',
  )
  const three = scan(tree, {
    bundles: [
      { base: 'a', options: 'o/dev.yaml' },
      { base: 'a', options: '../o/dev.yaml' },
    ],
  })
  assert.deepEqual(three.bundles.map(({ name }) => name).sort(), ['repo-a-o-dev', 'repo-o-dev'], 'B3')
  const bad = scan(tree, {
    bundles: [
      { base: 'a', options: 'nope.yaml' },
      { base: 'z' },
      { base: '*' },
      { base: '/a' },
      { base: 'a', options: '../../x' },
    ],
  })
  assert.deepEqual(bad.shown, [])
  assert.deepEqual(bad.findings, [
    'spec.bundles: options "nope.yaml" of base "a" is no file of the repository',
    'spec.bundles: base "z" is not a directory of the repository',
    'spec.bundles: base "*" is not a directory of the repository',
    'spec.bundles: base "/a" must be a directory inside the repository',
    'spec.bundles: options "../../x" of base "a" is no file of the repository',
  ])
  const own = scan([`a/${F}`, 'a/dev.yaml'], { bundles: [{ base: 'a', options: 'dev.yaml' }] })
  assert.equal(own.bundles[0]!.fleetYaml, 'a/dev.yaml', 'B5')
  assert.deepEqual(scan(['a/x.json'], { bundles: [{ base: 'a' }] }).shown, ['repo-a: x.json'], 'B6')
})
