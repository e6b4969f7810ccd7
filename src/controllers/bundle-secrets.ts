/** The Secrets the hub keeps for a bundle: what its charts drew, and the key of its secret values. */
import type { ObjectMeta } from '../kinds/meta.ts'

/** Marks them, so that they are found without looking at anybody else's. */
export const BUNDLE_SECRET_LABEL = 'flotilla.dev/bundle-secret'
/** The bundle one is for. */
export const BUNDLE_ANNOTATION = 'flotilla.dev/bundle'

const SUFFIXES = { frozen: '-frozen', valuesKey: '-values-key' } as const

/** The names of all Secrets of a bundle (`namespace/name`), as `namespace/name`. */
export function bundleSecretKeys(bundle: string): string[] {
  return Object.values(SUFFIXES).map((suffix) => `${bundle}${suffix}`)
}

/** Metadata of a Secret of a bundle. */
export function bundleSecret(bundle: string, kind: keyof typeof SUFFIXES): ObjectMeta & { readonly namespace: string } {
  const [namespace = '', name = ''] = bundle.split('/')
  return {
    namespace,
    name: `${name}${SUFFIXES[kind]}`,
    labels: { [BUNDLE_SECRET_LABEL]: 'true' },
    annotations: { [BUNDLE_ANNOTATION]: name },
  }
}
