import type { KubeObject } from '../../../kinds/meta.ts'

/** The key of the object of Flux that an object was made for; none for an object of another owner. */
export function ownerOf(
  { metadata }: KubeObject,
  { kind, group }: { readonly kind: string; readonly group: string },
): string[] {
  const owner = (metadata.ownerReferences ?? []).find(
    (one) => one.kind === kind && one.apiVersion.startsWith(`${group}/`),
  )
  return owner ? [`${metadata.namespace ?? ''}/${owner.name}`] : []
}
