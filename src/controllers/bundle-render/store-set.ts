/**
 * Stores rendered objects as a set: each blob before the blob that names it, and no value of a Secret in any of them.
 */
import { compact } from '../../core/compact.ts'
import type { Digest } from '../../core/crypto/digest.ts'
import type { JsonObject } from '../../core/json.ts'
import type { Secret } from '../../core/secret.ts'
import type { BundleOptions } from '../../kinds/fields/bundle-options.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { sortHooks } from '../../plan/apply/hooks.ts'
import { objectKey } from '../../plan/objects/object-id.ts'
import type { PreparedContent } from '../../render/bundle/prepare-content.ts'
import { RenderFailure } from '../../render/bundle/render-failure.ts'
import { toBlobs } from '../../render/render-result.ts'
import { extractSecretData } from '../../render/secret-values.ts'
import type { SecretData } from '../../render/secret-values.ts'
import type { SetObject } from '../../wire/document/cluster-document.ts'
import { sealedValueKey } from '../../wire/document/sealed-values.ts'
import { objectSetBytes, setFile, setFormat } from '../../wire/document/signed-document.ts'
import { encryptValues } from '../secrets/secret-values.ts'
import type { SlotValues } from '../secrets/secret-values.ts'
import type { BundleRenderPorts } from './ports.ts'

/** A stored set, with the number of its objects or files and the bytes of all of them. */
export interface StoredContent {
  readonly set: Digest
  readonly size: number
  readonly bytes: number
}

export type StoredSet = StoredContent | { readonly problem: string }

/** Stores the objects of a Bundle (`namespace/name`). */
export async function storeSet(
  { bundle, options }: { readonly bundle: string; readonly options?: BundleOptions | undefined },
  rendered: readonly UnknownObject[],
  ports: Pick<BundleRenderPorts, 'putBlob' | 'valuesKeyOf'>,
): Promise<StoredSet> {
  const sorted = sortHooks(options ?? {}, rendered)
  if (!sorted.ok) return sorted
  const split = splitSecrets(sorted.objects)
  if ('problem' in split) return split
  const { slots } = split
  const values = await keepValues(bundle, slots, ports)
  const blobs = toBlobs(split.objects)
  for (const blob of blobs) await ports.putBlob(blob.bytes)
  const objects = blobs.map(({ bytes: _bytes, ...object }) => {
    const data = slots.get(sealedValueKey(object))
    const hook = sorted.hooks.get(objectKey(object))
    return {
      ...object,
      ...compact({ sealed: data ? Object.keys(data.reveal()).sort() : undefined, hook }),
    }
  })
  const list = objectSetBytes(
    compact({
      format: setFormat(objects),
      objects,
      options,
      values,
    }),
  )
  const bytes = blobs.reduce((sum, blob) => sum + blob.bytes.byteLength, list.byteLength)
  return { set: await ports.putBlob(list), size: objects.length, bytes }
}

/** Stores content that agents render: first the files, then the set with the instructions. */
export async function storeFiles(
  options: BundleOptions | undefined,
  { recipe, files }: PreparedContent,
  ports: Pick<BundleRenderPorts, 'putBlob'>,
): Promise<StoredContent> {
  const objects: SetObject[] = []
  for (const [path, bytes] of [...files].sort(([a], [b]) => (a < b ? -1 : 1))) {
    objects.push(setFile(path, await ports.putBlob(bytes)))
  }
  const list = objectSetBytes(
    compact({
      format: 'flotilla.dev/set/v3',
      objects,
      options,
      // Plain data: JSON drops undefined members.
      render: { recipe: JSON.parse(JSON.stringify(recipe)) as JsonObject },
    }),
  )
  const bytes = [...files.values()].reduce((sum, file) => sum + file.byteLength, list.byteLength)
  return { set: await ports.putBlob(list), size: objects.length, bytes }
}

/** Objects without the values of Secrets, and the values by slot. */
function splitSecrets(
  rendered: readonly UnknownObject[],
): { readonly objects: readonly UnknownObject[]; readonly slots: SlotValues } | { readonly problem: string } {
  const slots = new Map<string, Secret<SecretData>>()
  try {
    const objects = rendered.map((one) => {
      const { object, data } = extractSecretData(one)
      const { namespace, name } = object.metadata
      const { apiVersion, kind } = object
      if (data) slots.set(sealedValueKey(compact({ apiVersion, kind, name, namespace: namespace || undefined })), data)
      return object
    })
    return { objects, slots }
  } catch (caught) {
    if (caught instanceof RenderFailure) return { problem: caught.message }
    throw caught
  }
}

/** Stores values so that only this hub can read them; equal values have an equal digest. */
async function keepValues(
  bundle: string,
  slots: SlotValues,
  ports: Pick<BundleRenderPorts, 'putBlob' | 'valuesKeyOf'>,
): Promise<Digest | undefined> {
  if (slots.size === 0) return undefined
  return ports.putBlob(encryptValues(bundle, slots, await ports.valuesKeyOf(bundle)))
}
