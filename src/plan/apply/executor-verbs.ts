// Tested by src/agent/cluster/executor-rights.contract.test.ts
/** The verbs that an executor needs on the kinds of its Bundles, by the method that writes the objects. */
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'

/** How the agent writes an object. */
export type ApplyMethod = NonNullable<NonNullable<BundleOptions['apply']>['method']>

interface ExecutorVerbs {
  /** Without one of them the Bundle fails. */
  readonly required: readonly string[]
  /** Without them the agent reads the objects in turn, and sees changes later. */
  readonly watching: readonly string[]
}

const WATCHING = ['list', 'watch']

const VERBS: Readonly<Record<ApplyMethod, ExecutorVerbs>> = {
  ServerSideApply: { required: ['get', 'create', 'patch', 'delete'], watching: WATCHING },
  Replace: { required: ['get', 'create', 'update', 'delete'], watching: WATCHING },
  CreateOnly: { required: ['get', 'create', 'delete'], watching: WATCHING },
  // Only what the agent has written has the label that it watches.
  ReadOnly: { required: ['get'], watching: [] },
}

/** All methods. */
export const EXECUTOR_METHODS = Object.keys(VERBS) as readonly ApplyMethod[]

/** The verbs for objects that are written by a method. */
export function executorVerbs(method: ApplyMethod = 'ServerSideApply'): ExecutorVerbs {
  return VERBS[method]
}
