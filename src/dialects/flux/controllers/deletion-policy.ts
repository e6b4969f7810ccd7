// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Keeps the deletion policy of a Kustomization in its Bundle, also while the Kustomization cannot be compiled. */
import type { Context, Draft, Result } from '../../../engine/reconciler.ts'
import { REMOVAL_FINALIZER } from '../../../kinds/native/bundle.ts'
import { deletionOf, readKustomization } from '../compile/compile-kustomization.ts'
import { isMadeFor, madeName } from '../compile/made-objects.ts'
import { Kustomization } from '../kinds.ts'
import type { KustomizationPorts } from './ports.ts'
import { sayRefusal } from './write-made.ts'

const AGAIN_MS = 5000

interface Scene {
  readonly ports: KustomizationPorts
  readonly context: Context
}

/** Adds the finalizer that keeps a deleted Kustomization until its Bundle has the policy; false if it is there. */
export function addFinalizer({ metadata }: Kustomization): boolean {
  const { finalizers = [] } = metadata
  if (finalizers.includes(REMOVAL_FINALIZER)) return false
  metadata.finalizers = [...finalizers, REMOVAL_FINALIZER]
  return true
}

/** Writes the policy of the present spec into the Bundle; returns whether it was different. */
export async function keepDeletionPolicy(object: Kustomization, { ports, context }: Scene): Promise<boolean> {
  const { namespace = '', name } = object.metadata
  const bundle = ports.bundleOf(namespace, madeName(Kustomization.kind, name))
  if (!bundle || bundle.metadata.deletionTimestamp || !isMadeFor(bundle, object)) return false
  const policies = deletionOf(readKustomization(object).spec)
  const { removed = 'Delete', unplaced = 'Delete', bundleDeleted = 'Delete' } = bundle.spec.delete ?? {}
  const isSame =
    removed === policies.removed && unplaced === policies.unplaced && bundleDeleted === policies.bundleDeleted
  if (isSame) return false
  await sayRefusal('Bundle', bundle, ports.setDeletionPolicies(bundle, policies, context.signal))
  return true
}

/** Lets a deleted Kustomization go when its Bundle, which the garbage collector deletes then, has the right policy. */
export async function removeKustomization({ next }: Draft<Kustomization>, scene: Scene): Promise<Result> {
  const { metadata } = next
  const { finalizers = [] } = metadata
  if (!finalizers.includes(REMOVAL_FINALIZER)) return {}
  if (await keepDeletionPolicy(next, scene)) return { requeueAfterMs: AGAIN_MS }
  metadata.finalizers = finalizers.filter((one) => one !== REMOVAL_FINALIZER)
  return {}
}
