/** The Secrets that the hub keeps for a Bundle: random values of its charts, and the key of its secret values. */
import type { ObjectMeta } from '../../kinds/meta.ts'

/** The label of these Secrets, so that the hub lists no other Secrets. */
export const BUNDLE_SECRET_LABEL = 'flotilla.dev/bundle-secret'
/** The label with the name of the Bundle. */
export const BUNDLE_ANNOTATION = 'flotilla.dev/bundle'

/** The field manager of these Secrets. */
export const BUNDLE_SECRET_MAKER = 'flotilla-bundle-render'
/** The data key of each kind of Secret. */
export const BUNDLE_SECRET_DATA = { frozen: 'frozen.json', valuesKey: 'key' } as const

const SUFFIXES = { frozen: '-frozen', valuesKey: '-values-key' } as const

type BundleSecretKind = keyof typeof SUFFIXES

/** The keys of all Secrets of a Bundle (`namespace/name`), as `namespace/name`. */
export function bundleSecretKeys(bundle: string): string[] {
  return Object.values(SUFFIXES).map((suffix) => `${secretStem(bundle)}${suffix}`)
}

/** The name of a Secret has no colon, as the ids of Deliveries have. */
function secretStem(name: string): string {
  return name.replace(':', '--')
}

/** Metadata of a Secret of a Bundle. */
export function bundleSecret(bundle: string, kind: BundleSecretKind): ObjectMeta & { readonly namespace: string } {
  const [namespace = '', name = ''] = bundle.split('/')
  return {
    namespace,
    name: `${secretStem(name)}${SUFFIXES[kind]}`,
    labels: { [BUNDLE_SECRET_LABEL]: 'true' },
    annotations: { [BUNDLE_ANNOTATION]: name },
  }
}

/** The name of the Bundle, and the kind of Secret, that a Secret of this name would be for. */
export function bundleSecretName(
  name: string,
): { readonly bundle: string; readonly kind: BundleSecretKind } | undefined {
  for (const kind of ['frozen', 'valuesKey'] as const) {
    const suffix = SUFFIXES[kind]
    if (name.endsWith(suffix) && name.length > suffix.length) return { bundle: name.slice(0, -suffix.length), kind }
  }
  return undefined
}
