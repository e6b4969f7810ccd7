/** Flux's settings on single objects, as annotations that agents read. */
import type { UnknownObject } from '../../../kinds/meta.ts'
import { KUSTOMIZE_GROUP } from './flux-kustomization.ts'

/** The annotations of flotilla.dev for a value of a setting of Flux. */
const MEANINGS: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>> = {
  ssa: {
    ifnotpresent: { 'flotilla.dev/apply': 'CreateOnly' },
    ignore: { 'flotilla.dev/apply': 'ReadOnly', 'flotilla.dev/delete': 'Orphan' },
  },
  reconcile: { disabled: { 'flotilla.dev/apply': 'ReadOnly', 'flotilla.dev/delete': 'Orphan' } },
  force: { enabled: { 'flotilla.dev/immutable': 'Recreate' } },
  prune: { disabled: { 'flotilla.dev/prune': 'Never', 'flotilla.dev/delete': 'Orphan' } },
}

/** The object with the annotations that its labels and annotations of Flux stand for. Its own annotations win. */
export function withFluxAnnotations(object: UnknownObject): UnknownObject {
  const { metadata } = object
  const added: Record<string, string> = {}
  for (const [setting, meanings] of Object.entries(MEANINGS)) {
    const key = `${KUSTOMIZE_GROUP}/${setting}`
    const values = [metadata.labels?.[key], metadata.annotations?.[key]].map((value) => value?.toLowerCase())
    for (const [value, annotations] of Object.entries(meanings)) {
      if (values.includes(value)) Object.assign(added, annotations)
    }
  }
  if (Object.keys(added).length === 0) return object
  return { ...object, metadata: { ...metadata, annotations: { ...added, ...metadata.annotations } } }
}
