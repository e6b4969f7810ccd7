/** The annotations in which a build keeps an object's history; they are removed at the end. */
const DOMAIN = 'internal.config.kubernetes.io'

export const PREVIOUS_KINDS = `${DOMAIN}/previousKinds`
export const PREVIOUS_NAMES = `${DOMAIN}/previousNames`
export const PREVIOUS_NAMESPACES = `${DOMAIN}/previousNamespaces`
export const PREFIXES = `${DOMAIN}/prefixes`
export const SUFFIXES = `${DOMAIN}/suffixes`
export const ALLOW_NAME_CHANGE = `${DOMAIN}/allowNameChange`
export const ALLOW_KIND_CHANGE = `${DOMAIN}/allowKindChange`
export const REFERRED_BY = `${DOMAIN}/refBy`
export const BEHAVIOR = `${DOMAIN}/generatorBehavior`
export const NEEDS_HASH = `${DOMAIN}/needsHashSuffix`
export const HELM_GENERATED = `${DOMAIN}/helm-generated`
export const ORIGIN = 'config.kubernetes.io/origin'
export const TRANSFORMATIONS = 'alpha.config.kubernetes.io/transformations'

/** All that the end of a build removes. */
export const BUILD_ANNOTATIONS: readonly string[] = [
  PREVIOUS_KINDS,
  PREVIOUS_NAMES,
  PREFIXES,
  SUFFIXES,
  PREVIOUS_NAMESPACES,
  ALLOW_NAME_CHANGE,
  ALLOW_KIND_CHANGE,
  REFERRED_BY,
  BEHAVIOR,
  NEEDS_HASH,
  `${DOMAIN}/path`,
  `${DOMAIN}/index`,
  `${DOMAIN}/seqindent`,
  `${DOMAIN}/id`,
  `${DOMAIN}/annotations-migration-resource-id`,
  'config.kubernetes.io/path',
  'config.kubernetes.io/index',
  'config.k8s.io/id',
  HELM_GENERATED,
]

/** Whether an annotation survives a JSON patch that removes it. */
export function isInternalAnnotation(key: string): boolean {
  return (
    key.startsWith(`${DOMAIN}/`) ||
    key === 'config.kubernetes.io/path' ||
    key === 'config.kubernetes.io/index' ||
    key === 'config.k8s.io/id'
  )
}
