import type { Command } from 'commander'
import type { Act } from './act.ts'
import { addStart } from './start.ts'
import { addClusters } from './clusters.ts'
import { addObjects } from './objects.ts'
import { addObserve } from './observe.ts'
import { addRender } from './render.ts'
import { addSources } from './sources.ts'
import { addBundles } from './bundles.ts'
import { addDrift } from './drift.ts'
import { addFreezes } from './freeze.ts'
import { addPlacement } from './placement.ts'
import { addRollback, addRollouts } from './rollout.ts'
import { addRendering } from './template.ts'
import { addKustomize } from './kustomize.ts'
import { addCare } from './care.ts'
import { addTrust } from './trust.ts'
import { addValidate } from './validate.ts'
import { addAbout } from './about.ts'

/** Adds every command there is, in the order of `--help`. */
export function addAll(program: Command, act: Act): void {
  addStart(program, act)
  addClusters(program, act)
  addObjects(program, act)
  addObserve(program, act)
  addSources(program, act)
  addBundles(program, act)
  addValidate(program, act)
  addRender(program, act)
  addPlacement(program, act)
  addDrift(program, act)
  addRollouts(program, act)
  addRollback(program, act)
  addFreezes(program, act)
  addRendering(program, act)
  addKustomize(program, act)
  addCare(program, act)
  addTrust(program, act)
  addAbout(program, act)
}
