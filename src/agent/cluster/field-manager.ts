/** The field manager of a bundle, by which the cluster records which fields the bundle applied. */
import { hex, sha256 } from '../../core/bytes.ts'
import type { UnknownObject } from '../../kinds/meta.ts'

const MANAGER_PREFIX = 'flotilla:'
// The most characters that Kubernetes allows in the name of a field manager.
const MANAGER_MAX = 128

/** The field manager of repairs that enforced policies make. */
export const POLICY_MANAGER = 'flotilla-policy'

/** `flotilla:` and the bundle's full name, or a digest where the name would be too long. */
export function fieldManager(bundle: string): string {
  const plain = `${MANAGER_PREFIX}${bundle}`
  return plain.length <= MANAGER_MAX ? plain : `${MANAGER_PREFIX}${hex(sha256(bundle))}`
}

/** True for the field manager of any bundle. */
export function isBundleManager(manager: string): boolean {
  return manager.startsWith(MANAGER_PREFIX)
}

/** True when the bundle has ever applied this live object. */
export function isAppliedBy(live: UnknownObject, bundle: string): boolean {
  const manager = fieldManager(bundle)
  return live.metadata.managedFields?.some((entry) => entry.manager === manager) ?? false
}
