import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Bundle } from '../../../src/kinds/native/bundle.ts'
import { Placement } from '../../../src/kinds/native/placement.ts'
import { Release } from '../../../src/kinds/native/release.ts'
import { Source } from '../../../src/kinds/native/source.ts'
import { build } from '../../../src/testing/fixtures/builders.ts'
import { liftMarkAction, releaseChangeAction, sourceAction } from './held-actions.ts'

const ana = { username: 'ana', groups: [], reason: '', nowMs: Date.parse('2026-01-01T00:00:00Z') }
const since = '2026-01-01T00:00:00Z'

test('a change that the guard stopped is released by its token, after its name was typed', () => {
  const held = { token: 'drop-1', dropping: 9, of: 10, allowed: 1, since, message: 'Would drop 9 of 10 clusters.' }
  const placement = build(Placement, 'shop/stores', { spec: {} as never, status: { held } })
  const action = releaseChangeAction('placement', placement)!
  assert.equal(action.effect, 'Would drop 9 of 10 clusters.')
  assert.deepEqual([action.typed, action.command], ['stores', 'flotilla guard release placement stores -n shop'])
  const { path, body } = action.change(ana)
  assert.match(path, /\/namespaces\/shop\/placements\/stores\?/)
  assert.deepEqual(body, { metadata: { annotations: { 'flotilla.dev/release-drop': 'drop-1' } } })
  const calm = build(Bundle, 'shop/web', { spec: { placement: 'stores' } })
  assert.equal(releaseChangeAction('bundle', calm), undefined)
})

test('the mark of one bundle is lifted, and those of other bundles stay', () => {
  const mark = (bundle: string) => ({ bundle, by: 'ana', at: since })
  const release = build(Release, 'shop/web-g2', {
    spec: { bundles: [] },
    status: { bad: [mark('web'), mark('till')] },
  })
  const action = liftMarkAction(release, 'web')!
  assert.equal(action.command, 'flotilla release lift web-g2 -n shop --bundle web')
  const { path, body } = action.change(ana)
  assert.match(path, /\/releases\/web-g2\/status\?/)
  assert.deepEqual((body as { status: object }).status, { bad: [mark('till')] })
  assert.equal(liftMarkAction(release, 'other'), undefined)
})

test('a held source accepts exactly the revision that was shown; another one is fetched again', () => {
  const source = (status: object) =>
    build(Source, 'shop/fleet', { spec: { git: { url: 'https://git.example/fleet' } }, status })
  const held = { revision: 'main@sha1:bbb', accept: 'bbb', since, message: 'm' }
  const accept = sourceAction(source({ held, artifact: { revision: 'main@sha1:aaa' } }))
  assert.match(accept.effect, /^Revision main@sha1:bbb does not descend from main@sha1:aaa\./)
  assert.deepEqual((accept.change(ana).body as { spec: object }).spec, { accept: 'bbb' })
  const poll = sourceAction(source({}))
  assert.equal(poll.command, 'flotilla source poll fleet -n shop')
  assert.match(JSON.stringify(poll.change(ana).body), /"flotilla.dev\/poll":"console 2026-01-01T00:00:00Z/)
})
