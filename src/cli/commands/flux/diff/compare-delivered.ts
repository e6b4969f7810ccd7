/**
 * The objects of a build beside those that the hub delivers to a cluster. An object is known by its digest; its fields
 * are known where the delivered content could be built again. Pure.
 */
import { canonicalJson } from '../../../../core/json.ts'
import type { ObjectStateName } from '../../../../kinds/fields/states.ts'
import type { UnknownObject } from '../../../../kinds/meta.ts'
import { objectChanges } from '../../../../plan/objects/object-changes.ts'
import type { FieldChange } from '../../../../plan/objects/object-changes.ts'
import { objectKey } from '../../../../plan/objects/object-id.ts'
import type { ObjectId } from '../../../../plan/objects/object-id.ts'
import { isKeptKind } from '../../../../plan/objects/object-options.ts'
import { toBlobs } from '../../../../render/render-result.ts'
import { extractSecretData } from '../../../../render/secret-values.ts'

/** An object that the hub delivers to a cluster. */
export interface DeliveredRow {
  readonly object: ObjectId & { readonly digest: string }
  readonly state: ObjectStateName
  readonly message?: string | undefined
}

/** An object of a build. */
export interface BuiltObject {
  readonly id: ObjectId
  /** The digest without the values of a Secret, as the hub stores it. */
  readonly digest: string
  /** The values of a Secret. */
  readonly values?: string
  /** The object as it may be shown. */
  readonly shown?: UnknownObject | undefined
}

/** What happens to an object, in the words of `flux diff`. */
export interface ObjectChange {
  /** `Kind/namespace/name`. */
  readonly subject: string
  readonly action: 'created' | 'drifted' | 'deleted'
  readonly fields: readonly FieldChange[]
  /** The fields are not known. */
  readonly isOpaque?: true
  /** Fields that were changed in the cluster. */
  readonly inCluster?: string
}

/** The changes on a cluster, and what could not be compared. */
export interface Comparison {
  readonly changes: readonly ObjectChange[]
  readonly notCompared: readonly string[]
  /** A candidate has exactly the delivered objects. */
  readonly isProven: boolean
  /** Objects whose state the agent does not report. */
  readonly unreported: number
}

/** One side of a cluster. */
export interface ComparedSides {
  readonly built: readonly BuiltObject[]
  readonly rows: readonly DeliveredRow[]
  /** Builds of commits that the cluster may have, the likeliest first. */
  readonly candidates: readonly (readonly BuiltObject[])[]
  /** Whether objects that left the build are deleted. */
  readonly prunes: boolean
}

/** An object of a render; `shown` is the same object without values of Secrets. */
export function builtObject(object: UnknownObject, shown: UnknownObject | undefined): BuiltObject {
  const { object: bare, data } = extractSecretData(object)
  const { apiVersion, kind, metadata } = object
  const { namespace, name } = metadata
  return {
    id: { apiVersion, kind, name, ...(namespace && { namespace }) },
    digest: toBlobs([bare])[0]!.digest,
    ...(data && { values: canonicalJson(data.reveal()) }),
    shown,
  }
}

/** Compares the objects of a cluster. */
export function compareDelivered({ built, rows, candidates, prunes }: ComparedSides): Comparison {
  const delivered = new Map(rows.map((row) => [objectKey(row.object), row]))
  const whole = candidates.find((candidate) => isWhole(candidate, delivered))
  const changes: ObjectChange[] = []
  const notCompared: string[] = []
  for (const object of built) {
    const key = objectKey(object.id)
    const row = delivered.get(key)
    const subject = subjectOf(object.id)
    if (!row) {
      changes.push({ subject, action: 'created', fields: [] })
      continue
    }
    const inCluster = row.state === 'Drifted' ? { inCluster: row.message ?? '' } : {}
    const before =
      row.object.digest === object.digest
        ? whole?.find(({ id }) => objectKey(id) === key)
        : candidates.flat().find(({ id, digest }) => objectKey(id) === key && digest === row.object.digest)
    if (row.object.digest !== object.digest) {
      const fields = before?.shown && object.shown ? objectChanges(before.shown, object.shown) : []
      const opaque = fields.length === 0 ? { isOpaque: true as const } : {}
      changes.push({ subject, action: 'drifted', fields, ...opaque, ...inCluster })
    } else if (object.values !== undefined && !before) {
      notCompared.push(`the values of ${subject}`)
      if (row.state === 'Drifted') changes.push({ subject, action: 'drifted', fields: [], ...inCluster })
    } else if (object.values !== before?.values && object.values !== undefined) {
      const fields = before?.shown && object.shown ? objectChanges(before.shown, object.shown) : []
      changes.push({ subject, action: 'drifted', fields, ...inCluster })
    } else if (row.state === 'Drifted') changes.push({ subject, action: 'drifted', fields: [], ...inCluster })
  }
  return {
    changes: [...changes, ...(prunes ? deletions(built, delivered, candidates) : [])],
    notCompared,
    isProven: whole !== undefined,
    unreported: rows.filter(({ state }) => state === 'NotReported').length,
  }
}

/** Whether a build has exactly the delivered objects. */
function isWhole(candidate: readonly BuiltObject[], delivered: ReadonlyMap<string, DeliveredRow>): boolean {
  return (
    candidate.length === delivered.size &&
    candidate.every(({ id, digest }) => delivered.get(objectKey(id))?.object.digest === digest)
  )
}

/** Objects that are delivered and no longer built. Namespaces, definitions and volumes stay. */
function deletions(
  built: readonly BuiltObject[],
  delivered: ReadonlyMap<string, DeliveredRow>,
  candidates: ComparedSides['candidates'],
): ObjectChange[] {
  const wanted = new Set(built.map(({ id }) => objectKey(id)))
  return [...delivered]
    .filter(([key, { object }]) => !wanted.has(key) && !isKeptKind(object))
    .flatMap(([key, { object }]) => {
      const known = candidates.flat().find(({ id, digest }) => objectKey(id) === key && digest === object.digest)
      const annotations = known?.shown?.metadata.annotations ?? {}
      if (annotations['flotilla.dev/prune'] === 'Never' || annotations['flotilla.dev/delete'] === 'Orphan') return []
      const opaque = known ? {} : { isOpaque: true as const }
      return [{ subject: subjectOf(object), action: 'deleted' as const, fields: [], ...opaque }]
    })
}

function subjectOf({ kind, namespace, name }: ObjectId): string {
  return namespace ? `${kind}/${namespace}/${name}` : `${kind}/${name}`
}
