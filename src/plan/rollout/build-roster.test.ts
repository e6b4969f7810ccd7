import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  assertCacheMatchesRebuild,
  RosterCacheModel,
  rosterCacheSteps,
  rosterCacheShapes,
} from '../../testing/models/roster-cache.ts'

test('property: a look at what has changed says what a look at everything says, in any history (I-16)', () => {
  fc.assert(fc.property(rosterCacheShapes, fc.array(rosterCacheSteps, { maxLength: 60 }), assertCacheMatchesRebuild), {
    numRuns: 200,
  })
})

test('one report is one cluster to work out again; a first look, a later time of a window, and a clock set back are all clusters', () => {
  const world = new RosterCacheModel({ clusters: 40, rings: 1, concurrency: 3 })
  assert.equal(world.look(), 40)
  world.step({ do: 'assemble' })
  // Three slots were written: those three are others now.
  assert.equal(world.look(), 3)
  for (const bundle of ['x', 'y']) world.step({ do: 'report', cluster: 0, state: 'Ready', bundle })
  // The one that reported, whose slot came back.
  assert.equal(world.look(), 1)
  // The one that was admitted in its place.
  assert.equal(world.look(), 1)
  assert.equal(world.look(), 0)
  world.step({ do: 'wait', minutes: 60 })
  assert.equal(world.look(), 40)
  world.step({ do: 'wait', minutes: -1 })
  assert.equal(world.look(), 40)
})
