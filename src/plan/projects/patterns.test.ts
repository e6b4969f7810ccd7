import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { allowsAll, kindText, matchesAddress, matchesAny, matchesKind } from './patterns.ts'

test('addresses', () => {
  const below = 'https://git.example.com/team-a/*'
  const cases: [pattern: string, address: string, allowed: boolean][] = [
    ['*', 'https://anywhere.example/x', true],
    [below, 'https://git.example.com/team-a/shop.git', true],
    [below, 'https://git.example.com/team-a/deep/er/shop.git', true],
    [below, 'https://git.example.com/team-a', false],
    [below, 'https://git.example.com/team-ab/shop.git', false],
    [below, 'https://git.example.com/team-b/shop.git', false],
    [below, 'https://git.example.com/team-a/../team-b/shop.git', false],
    [below, 'https://git.example.com/team-a/%2e%2e/team-b/shop.git', false],
    [below, 'https://git.example.com/team-a/./shop.git', false],
    [below, 'https://git.example.com@evil.example/team-a/shop.git', false],
    [below, 'http://git.example.com/team-a/shop.git', false],
    ['https://*.example.com/*', 'https://git.example.com/x', true],
    ['https://*.example.com/*', 'https://evil.org/x.example.com/y', false],
    ['https://*.example.com/*', 'https://evil.org?.example.com/y', false],
    ['https://*.example.com/*', 'https://evil.org#.example.com/y', false],
    ['https://*.example.com/*', 'https://evil.org\\.example.com/y', false],
    ['git@host:team-a/*', 'git@host:team-a/shop', true],
    ['git@host:team-a/*', 'git@host:../team-a/shop', false],
    ['/srv/git/*', '/srv/git/shop', true],
    ['/srv/git/*', '/srv/git/../../etc', false],
    ['https://git.example.com/a', 'https://gitXexample.com/a', false],
    ['https://git.example.com/a%20b', 'https://git.example.com/a%20b', true],
  ]
  for (const [pattern, address, allowed] of cases) {
    assert.equal(matchesAddress(pattern, address), allowed, `${pattern} ${address}`)
  }
})

test('property: an address below a prefix never leaves the host and path of the pattern', () => {
  const part = fc.stringMatching(/^[a-z.%@?#:\\-]{0,6}$/)
  fc.assert(
    fc.property(fc.array(part, { maxLength: 5 }), (parts) => {
      const address = `https://${parts.join('/')}`
      if (!matchesAddress('https://a.b/c/*', address)) return
      const { host, pathname, username } = new URL(address)
      assert.equal(host, 'a.b')
      assert.equal(username, '')
      assert.ok(pathname.startsWith('/c/'))
    }),
  )
})

test('kinds', () => {
  const map = { apiVersion: 'v1', kind: 'ConfigMap' }
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment' }
  const cases: [string, typeof map, boolean][] = [
    ['*', map, true],
    ['*', deployment, true],
    ['ConfigMap', map, true],
    ['ConfigMap', { apiVersion: 'other.dev/v1', kind: 'ConfigMap' }, false],
    ['Deployment', deployment, false],
    ['apps/Deployment', deployment, true],
    ['apps/Deployment', { apiVersion: 'apps/v1beta1', kind: 'Deployment' }, true],
    ['apps/*', deployment, true],
    ['apps/*', { apiVersion: 'apps.evil.dev/v1', kind: 'Deployment' }, false],
    ['apps/*', map, false],
  ]
  for (const [pattern, id, allowed] of cases) assert.equal(matchesKind(pattern, id), allowed, `${pattern} ${id.kind}`)
  assert.deepEqual([map, deployment].map(kindText), ['ConfigMap', 'apps/Deployment'])
})

test('an absent list allows nothing', () => {
  assert.equal(allowsAll(undefined), false)
  assert.equal(matchesAny(undefined, 'x'), false)
  assert.equal(matchesAny(['team-*'], 'team-a'), true)
})
