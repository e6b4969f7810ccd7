// Tested by src/agent/documents/content.contract.test.ts
/** Downloads a whole set in packs, as differences to the set that the bundle has on disk. */
import type { Digest } from '../../core/crypto/digest.ts'
import { toError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import { describeObject } from '../../plan/objects/object-id.ts'
import type { ObjectSet } from '../../wire/document/cluster-document.ts'
import { decodePack, missingItems, openPack } from '../../wire/document/pack.ts'
import { checkDigest, parseObjectSet } from '../../wire/document/signed-document.ts'
import { WireError } from '../../wire/validate.ts'
import type { DeltaBase } from './delta-bases.ts'
import type { CompleteSet, LocalContent } from './local-content.ts'

/** The part of a set that a pack holds, and the set it is a difference to. */
interface Part {
  readonly from: number
  readonly to: number
  readonly base: ObjectSet | undefined
}

/** Downloads what is missing of a set; `findBase` is asked for the base only when an object is missing. */
export async function downloadSet(
  local: LocalContent,
  digest: Digest,
  { findBase, log }: { readonly findBase: () => Promise<DeltaBase | undefined>; readonly log: Logger },
  signal: AbortSignal,
): Promise<ObjectSet> {
  const known = await local.local(digest)
  let whole = known && parseObjectSet(known)
  let from = whole ? await local.firstMissing(whole, 0) : 0
  if (whole && from >= whole.objects.length) return whole
  let base = await findBase()
  let baseSet = base && (await local.completeSet(base.set))
  for (;;) {
    const pack = openPack(await local.link().set(digest, { base: baseSet ? base : undefined, from }, signal))
    const { header } = pack
    if (header.from !== from) throw new WireError('Malformed', 'the hub sent another part of the set than requested')
    let parts: ReturnType<typeof decodePack>
    try {
      parts = decodePack(pack, await readDictionary(local, header, baseSet))
    } catch (caught) {
      if (!baseSet) throw caught
      // The base on disk is not the base that the hub used: fetch the set without a base.
      log.info(
        { set: digest, err: toError(caught) },
        'the difference does not fit the base on disk; fetching the whole set',
      )
      base = undefined
      baseSet = undefined
      continue
    }
    if (parts.manifest) {
      checkDigest(parts.manifest, digest, 'set')
      whole = parseObjectSet(parts.manifest)
    }
    if (!whole) throw new WireError('Malformed', 'the hub sent objects before the manifest of their set')
    // The manifest is stored last: a manifest on disk tells which objects are missing.
    await storeObjects(local, whole, { from, to: header.to, base: baseSet?.set }, parts.objects)
    if (parts.manifest) await local.put(parts.manifest)
    from = await local.firstMissing(whole, header.to)
    if (from >= whole.objects.length) return whole
  }
}

async function storeObjects(
  local: LocalContent,
  whole: ObjectSet,
  { from, to, base }: Part,
  objects: readonly Uint8Array[],
): Promise<void> {
  const expected = missingItems(whole, base, from).filter(({ index }) => index < to)
  if (expected.length !== objects.length)
    throw new WireError('Malformed', `the hub sent ${objects.length} objects, expected ${expected.length}`)
  for (const [index, { object: named }] of expected.entries()) {
    checkDigest(objects[index]!, named.digest, describeObject(named))
    await local.put(objects[index]!)
  }
}

/** The objects of the base that the pack refers to. */
async function readDictionary(
  local: LocalContent,
  header: { readonly withBase: boolean; readonly dictionary: readonly number[] },
  base: CompleteSet | undefined,
) {
  const dictionary: Uint8Array[] = []
  for (const index of header.dictionary) {
    const named = base?.set.objects[index]
    const bytes = named && (await local.local(named.digest))
    if (!bytes) throw new WireError('Malformed', 'the hub used a base that is not on this disk')
    dictionary.push(bytes)
  }
  if (!header.withBase) return { dictionary }
  if (!base) throw new WireError('Malformed', 'the hub used a base that is not on this disk')
  return { baseManifest: base.bytes, dictionary }
}
