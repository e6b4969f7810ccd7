/** The keys of Bundles' secret values: one Secret of the hub per Bundle, created once and never changed. */
import type { Client } from '../../client/client.ts'
import { base64, fromBase64 } from '../../core/bytes.ts'
import { isApiError, Stalled } from '../../core/errors.ts'
import type { Ids } from '../../core/ids.ts'
import { Secret } from '../../core/secret.ts'
import { Secret as SecretKind } from '../../kinds/builtin/core.ts'
import { apiVersionOf } from '../../kinds/meta.ts'
import { BUNDLE_SECRET_DATA, BUNDLE_SECRET_MAKER, bundleSecret } from './bundle-secrets.ts'
import { VALUES_KEY_BYTES } from './secret-values.ts'
import type { ValuesKey } from './secret-values.ts'

/** Finds and creates keys; Bundles are `namespace/name`. */
export interface ValuesKeys {
  /** Undefined when the key does not exist. */
  of(bundle: string): Promise<ValuesKey | undefined>
  /** Creates the key when it does not exist. */
  make(bundle: string): Promise<ValuesKey>
  /** Drops a cached key that decrypts nothing; the next call reads it again. */
  forget(bundle: string): void
}

const DATA_KEY = BUNDLE_SECRET_DATA.valuesKey
const MAX_KEPT = 1000

/** The Secret with a Bundle's key. */
export function valuesKeySecret(bundle: string): { readonly namespace: string; readonly name: string } {
  const { namespace, name } = bundleSecret(bundle, 'valuesKey')
  return { namespace, name }
}

/** Keys in the hub's own API, with a cache of the keys used last. */
export function createValuesKeys(client: Pick<Client, 'get' | 'create'>, ids: Pick<Ids, 'bytes'>): ValuesKeys {
  const kept = new Map<string, ValuesKey>()

  function keep(bundle: string, key: ValuesKey): ValuesKey {
    kept.delete(bundle)
    kept.set(bundle, key)
    for (const oldest of kept.keys()) {
      if (kept.size <= MAX_KEPT) break
      kept.delete(oldest)
    }
    return key
  }

  async function of(bundle: string): Promise<ValuesKey | undefined> {
    const known = kept.get(bundle)
    if (known) return keep(bundle, known)
    const at = valuesKeySecret(bundle)
    const found = await client.get(SecretKind, at).catch((caught: unknown) => {
      if (isApiError(caught, 'NotFound')) return undefined
      throw caught
    })
    if (!found) return undefined
    const bytes = fromBase64(found.data?.[DATA_KEY] ?? '')
    if (bytes.byteLength === VALUES_KEY_BYTES) return keep(bundle, new Secret(bytes))
    throw new Stalled(
      'ValuesKeyChanged',
      `Secret ${at.namespace}/${at.name} holds the key of this bundle's secret values and has none of ${VALUES_KEY_BYTES} bytes in ${DATA_KEY}; restore it from a backup, or delete it and edit the Bundle to render it anew.`,
    )
  }

  return {
    of,
    async make(bundle) {
      const known = await of(bundle)
      if (known) return known
      const key = new Secret(ids.bytes(VALUES_KEY_BYTES))
      const secret = {
        apiVersion: apiVersionOf(SecretKind),
        kind: SecretKind.kind,
        metadata: bundleSecret(bundle, 'valuesKey'),
        immutable: true,
        data: { [DATA_KEY]: base64(key.reveal()) },
      } as unknown as SecretKind
      try {
        await client.create(SecretKind, secret, { fieldManager: BUNDLE_SECRET_MAKER })
        return keep(bundle, key)
      } catch (caught) {
        if (!isApiError(caught, 'AlreadyExists')) throw caught
        const theirs = await of(bundle)
        if (theirs) return theirs
        throw caught
      }
    },
    forget: (bundle) => void kept.delete(bundle),
  }
}
