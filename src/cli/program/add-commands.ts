import type { Command } from 'commander'
import type { Act } from './command-action.ts'
import { addHubAndDemo } from './groups/hub-and-demo.ts'
import { addClusters } from './groups/clusters.ts'
import { addObjects } from './groups/objects.ts'
import { addObserve } from './groups/observe.ts'
import { addRender } from './groups/render.ts'
import { addSources } from './groups/sources.ts'
import { addBundles } from './groups/bundles.ts'
import { addDrift } from './groups/drift.ts'
import { addFreezes } from './groups/freeze.ts'
import { addPlacement } from './groups/placement.ts'
import { addRollback, addRollouts } from './groups/rollout.ts'
import { addRendering } from './groups/template.ts'
import { addKustomize } from './groups/kustomize.ts'
import { addOperations } from './groups/operations.ts'
import { addTrust } from './groups/trust.ts'
import { addValidate } from './groups/validate.ts'
import { addAbout } from './groups/about.ts'

/** Adds every command there is, in the order of `--help`. */
export function addAll(program: Command, act: Act): void {
  addHubAndDemo(program, act)
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
  addOperations(program, act)
  addTrust(program, act)
  addAbout(program, act)
}
