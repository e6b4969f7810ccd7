/** Leaves the objects that `spec.exclude` selects out of a rendering. */
import { compact } from '../../core/compact.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { describeObject, selects } from '../../plan/objects/object-id.ts'
import type { ObjectId } from '../../plan/objects/object-id.ts'
import type { SharedVariant } from '../../render/bundle/render-variants.ts'

/** Names of excluded objects that the status of a Bundle shows. */
const MAX_SHOWN = 20

/** The variants without excluded objects, and the names of these objects. */
export function excludeObjects(
  variants: readonly SharedVariant[],
  { exclude = [] }: Pick<Bundle['spec'], 'exclude'>,
): { readonly variants: readonly SharedVariant[]; readonly excluded: readonly string[] } {
  if (exclude.length === 0) return { variants, excluded: [] }
  const excluded = new Set<string>()
  const isExcluded = (object: UnknownObject): boolean => {
    const id = idOf(object)
    const isMeant = exclude.some((rule) => selects(rule, id))
    if (isMeant) excluded.add(describeObject(id))
    return isMeant
  }
  const kept = variants.map((variant): SharedVariant => {
    const { result } = variant
    if (result.ok === 'prepared') {
      const message = 'spec.exclude cannot be combined with a rendering in the cluster'
      return { ...variant, result: { ok: false, problems: [{ message }] } }
    }
    if (result.ok !== true) return variant
    return { ...variant, result: { ...result, objects: result.objects.filter((object) => !isExcluded(object)) } }
  })
  return { variants: kept, excluded: [...excluded].sort().slice(0, MAX_SHOWN) }
}

/** The identity of a rendered object. */
export function idOf({ apiVersion, kind, metadata: { name, namespace } }: UnknownObject): ObjectId {
  return { apiVersion, kind, name, ...compact({ namespace }) }
}
