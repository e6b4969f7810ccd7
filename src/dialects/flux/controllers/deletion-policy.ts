// Tested by src/dialects/flux/controllers/kustomization.sim.test.ts.
/** Keeps the deletion policy of a Kustomization or HelmRelease in its Bundle, also while it cannot be compiled. */
import type { Context, Draft, Result } from '../../../engine/reconciler.ts'
import { REMOVAL_FINALIZER } from '../../../kinds/native/bundle.ts'
import { deletionOf, readKustomization } from '../compile/compile-kustomization.ts'
import type { DeletionPolicies } from '../compile/compile-kustomization.ts'
import { readHelmRelease, releaseDeletion } from '../compile/compile-release.ts'
import { isMadeFor, madeName } from '../compile/made-objects.ts'
import type { KubeObject } from '../../../kinds/meta.ts'
import { Kustomization } from '../kinds.ts'
import { HelmRelease } from '../release/release-kind.ts'
import type { DeletionPorts } from './ports.ts'
import { sayRefusal } from './write-made.ts'

const AGAIN_MS = 5000

interface Scene {
  readonly ports: DeletionPorts
  readonly context: Context
}

/** Adds the finalizer that keeps a deleted object until its Bundle has the policy; false if it is there. */
export function addFinalizer({ metadata }: KubeObject): boolean {
  const { finalizers = [] } = metadata
  if (finalizers.includes(REMOVAL_FINALIZER)) return false
  metadata.finalizers = [...finalizers, REMOVAL_FINALIZER]
  return true
}

/** Writes the policy of the present spec into the Bundle; returns whether it was different. */
export async function keepDeletionPolicy(
  object: Kustomization | HelmRelease,
  { ports, context }: Scene,
): Promise<boolean> {
  const { namespace = '', name } = object.metadata
  const bundle = ports.bundleOf(namespace, madeName(kindOf(object), name))
  if (!bundle || bundle.metadata.deletionTimestamp || !isMadeFor(bundle, object)) return false
  const policies = policiesOf(object)
  const { removed = 'Delete', unplaced = 'Delete', bundleDeleted = 'Delete' } = bundle.spec.delete ?? {}
  const isSame =
    removed === policies.removed && unplaced === policies.unplaced && bundleDeleted === policies.bundleDeleted
  if (isSame) return false
  await sayRefusal('Bundle', bundle, ports.setDeletionPolicies(bundle, policies, context.signal))
  return true
}

/** Lets a deleted object go when its Bundle, which the garbage collector deletes then, has the right policy. */
export async function removeWithBundle(
  { next }: Draft<Kustomization> | Draft<HelmRelease>,
  scene: Scene,
): Promise<Result> {
  const { metadata } = next
  const { finalizers = [] } = metadata
  if (!finalizers.includes(REMOVAL_FINALIZER)) return {}
  if (await keepDeletionPolicy(next, scene)) return { requeueAfterMs: AGAIN_MS }
  metadata.finalizers = finalizers.filter((one) => one !== REMOVAL_FINALIZER)
  return {}
}

function kindOf(object: KubeObject): string {
  return object.kind === HelmRelease.kind ? HelmRelease.kind : Kustomization.kind
}

function policiesOf(object: Kustomization | HelmRelease): DeletionPolicies {
  if (isRelease(object)) return releaseDeletion(readHelmRelease(object).spec)
  return deletionOf(readKustomization(object).spec)
}

function isRelease(object: Kustomization | HelmRelease): object is HelmRelease {
  return kindOf(object) === HelmRelease.kind
}
