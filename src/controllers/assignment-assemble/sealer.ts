/** Decrypts the stored secret values of a set and seals them to the key of a cluster. */
import type { Blobs } from '../../blobs/blobs.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import { toError, Waiting } from '../../core/errors.ts'
import type { Cluster } from '../../kinds/native/cluster.ts'
import type { AssembledEntry } from '../../plan/document/assemble-document.ts'
import { sealingKeyId } from '../../wire/document/sealed-values.ts'
import { decryptValues, sealFor } from '../secrets/secret-values.ts'
import { valuesKeySecret } from '../secrets/values-keys.ts'
import type { ValuesKeys } from '../secrets/values-keys.ts'
import type { AssignmentAssemblePorts } from './ports.ts'
import type { SetFactsOf } from './set-facts.ts'

/** The ports of the sealer. */
export interface SealerParts {
  readonly blobs: Pick<Blobs, 'put' | 'get'>
  readonly valuesKeys: ValuesKeys
  readonly factsOf: SetFactsOf
}

const RETRY_MS = 60_000

export function createSealer({ blobs, valuesKeys, factsOf }: SealerParts): AssignmentAssemblePorts['seal'] {
  async function valuesOf(set: Digest): Promise<Digest | undefined> {
    const facts = await factsOf(set)
    if (!facts) throw new Waiting('SetMissing', `Set ${set} is not in the blobs; restore them from a backup.`, RETRY_MS)
    return facts.values
  }

  async function plainOf(bundle: string, values: Digest) {
    const blob = await blobs.get(values)
    const key = await valuesKeys.of(bundle)
    const found = blob && key && decryptValues(bundle, blob, key)
    if (found) return { found, key }
    valuesKeys.forget(bundle)
    const { namespace, name } = valuesKeySecret(bundle)
    const why = blob
      ? `Secret ${namespace}/${name} with their key is not the one they were kept with`
      : 'their blob is gone'
    throw new Waiting(
      'ValuesUnreadable',
      `The secret values of bundle ${bundle} cannot be read: ${why}. Clusters keep what they run; restore it from a backup, or edit the Bundle to render it anew.`,
      RETRY_MS,
    )
  }

  return async function seal({ spec }: Cluster, { bundle, set }: AssembledEntry) {
    const values = await valuesOf(set)
    if (values === undefined) return undefined
    const { found, key } = await plainOf(bundle, values)
    const bytes = sealed({ clusterId: spec.id, bundle, values }, spec.sealingKey, found, key)
    return { values: await blobs.put(bytes), key: sealingKeyId(spec.sealingKey) }
  }
}

// The agent chose this key; the hub cannot seal to a key of an unknown form.
function sealed(...[context, sealingKey, values, key]: Parameters<typeof sealFor>): Uint8Array {
  try {
    return sealFor(context, sealingKey, values, key)
  } catch (caught) {
    const why = `nothing can be sealed to the cluster's key: ${toError(caught).message}`
    throw new Waiting('BadSealingKey', `Bundle ${context.bundle} has secret values, and ${why}.`, RETRY_MS)
  }
}
