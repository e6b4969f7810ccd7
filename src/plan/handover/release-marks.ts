/** The end of a handover for an object: the fields move to the bundle, and the marks of the peer go. */
import type { ManagedFieldsEntry, UnknownObject } from '../../kinds/meta.ts'
import { ownField } from '../../kinds/schema/own-field.ts'
import { ownersAt } from '../objects/managed-fields.ts'
import { HANDOVER_ANNOTATION } from './saved-fields.ts'
import type { Peer } from './peers.ts'

/** Helm's value of the label; a person's own value stays. */
const VALUES: Readonly<Record<string, string>> = { 'app.kubernetes.io/managed-by': 'Helm' }

/**
 * The merge patch of the object's metadata; undefined when the object has no mark and no field of the peer.
 * A mark that the bundle applies itself stays.
 */
export function releaseMarksPatch(live: UnknownObject, peer: Peer, manager: string): object | undefined {
  const labels = marks(live, ['labels', peer.labels], manager)
  const annotations = marks(live, ['annotations', [...peer.annotations, HANDOVER_ANNOTATION]], manager)
  const owners = ownerReferencesWithout(live, peer)
  const managedFields = ownFieldsOnly(live, peer, manager)
  if (!labels && !annotations && !owners && !managedFields) return undefined
  return {
    metadata: {
      resourceVersion: live.metadata.resourceVersion,
      ...(labels ? { labels } : {}),
      ...(annotations ? { annotations } : {}),
      ...(owners ? { ownerReferences: owners } : {}),
      ...(managedFields ? { managedFields } : {}),
    },
  }
}

/** A field that the system had, too, would otherwise stay when the bundle leaves it out. */
function ownFieldsOnly(live: UnknownObject, { managers }: Peer, manager: string): ManagedFieldsEntry[] | undefined {
  const entries = live.metadata.managedFields ?? []
  if (!entries.some((entry) => entry.manager === manager)) return undefined
  const left = entries.filter((entry) => entry.subresource !== undefined || !managers.test(entry.manager))
  return left.length === entries.length ? undefined : left
}

function marks(
  live: UnknownObject,
  [field, names]: readonly ['labels' | 'annotations', readonly string[]],
  manager: string,
): Record<string, null> | undefined {
  const present = names.filter((name) => {
    const value = ownField(live.metadata[field] ?? {}, name)
    if (value === undefined || (VALUES[name] !== undefined && VALUES[name] !== value)) return false
    return !ownersAt(live, ['metadata', field, name]).some((entry) => entry.manager === manager)
  })
  return present.length === 0 ? undefined : Object.fromEntries(present.map((name) => [name, null]))
}

/** The owner references without references to the system's records; undefined when it has none. */
export function ownerReferencesWithout(live: UnknownObject, { owners }: Pick<Peer, 'owners'>): unknown[] | undefined {
  const references = live.metadata.ownerReferences ?? []
  const left = references.filter(
    ({ apiVersion, kind }) => !owners.some((owner) => owner.kind === kind && apiVersion.startsWith(`${owner.group}/`)),
  )
  return left.length === references.length ? undefined : left
}

/** managedFields without the entries of a bundle's manager; undefined when it has none. */
export function managedFieldsWithout(live: UnknownObject, manager: string): ManagedFieldsEntry[] | undefined {
  const entries = live.metadata.managedFields ?? []
  const left = entries.filter((entry) => entry.manager !== manager)
  return left.length === entries.length ? undefined : left
}
