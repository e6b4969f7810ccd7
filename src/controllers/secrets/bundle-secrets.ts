/** The Secrets the hub keeps for a bundle: what its charts drew, and the key of its secret values. */
import type { ObjectMeta } from '../../kinds/meta.ts'

/** Marks them, so that they are found without looking at anybody else's. */
export const BUNDLE_SECRET_LABEL = 'flotilla.dev/bundle-secret'
/** The bundle one is for. */
export const BUNDLE_ANNOTATION = 'flotilla.dev/bundle'

/** Who makes them, as their managed fields say. */
export const BUNDLE_SECRET_MAKER = 'flotilla-bundle-render'
/** What each kind of them has its content under. */
export const BUNDLE_SECRET_DATA = { frozen: 'frozen.json', valuesKey: 'key' } as const

const SUFFIXES = { frozen: '-frozen', valuesKey: '-values-key' } as const

type BundleSecretKind = keyof typeof SUFFIXES

/** The names of all Secrets of a bundle (`namespace/name`), as `namespace/name`. */
export function bundleSecretKeys(bundle: string): string[] {
  return Object.values(SUFFIXES).map((suffix) => `${bundle}${suffix}`)
}

/** Metadata of a Secret of a bundle. */
export function bundleSecret(bundle: string, kind: BundleSecretKind): ObjectMeta & { readonly namespace: string } {
  const [namespace = '', name = ''] = bundle.split('/')
  return {
    namespace,
    name: `${name}${SUFFIXES[kind]}`,
    labels: { [BUNDLE_SECRET_LABEL]: 'true' },
    annotations: { [BUNDLE_ANNOTATION]: name },
  }
}

/** The bundle (its name alone) that a Secret of this name would be for, and which of its Secrets it would be. */
export function bundleSecretName(
  name: string,
): { readonly bundle: string; readonly kind: BundleSecretKind } | undefined {
  for (const kind of ['frozen', 'valuesKey'] as const) {
    const suffix = SUFFIXES[kind]
    if (name.endsWith(suffix) && name.length > suffix.length) return { bundle: name.slice(0, -suffix.length), kind }
  }
  return undefined
}
