/**
 * A set with its objects in one answer: one round trip for a whole bundle, and after a change only what changed.
 * Objects that the agent has (they are in the base set under the same digest) are left out; the rest, and the set's
 * own manifest, are a difference to their namesakes in the base. A large set comes in several packs, each from the
 * object where the last one ended.
 *
 *   header (one line of JSON) · difference of (length u32 · bytes)*
 */
import type { Static } from 'typebox'
import { concatBytes, utf8 } from '../../core/bytes.ts'
import { compact } from '../../core/compact.ts'
import { Type } from '../../core/schema/typebox.ts'
import { decodeDelta, encodeDelta } from './binary-delta.ts'
import type { ObjectSet, SetObject } from './cluster-document.ts'
import { LIMITS } from '../limits.ts'
import { parseJson, WireError } from '../validate.ts'

const Index = Type.Integer({ minimum: 0 })

const PackHeader = Type.Object({
  format: Type.Literal('flotilla.dev/pack/v1'),
  /** Objects of the set, [from, to) of total. The manifest is in the pack that begins at 0. */
  from: Index,
  to: Index,
  total: Index,
  /** Whether the base's manifest is in the dictionary. */
  withBase: Type.Boolean(),
  /** Which objects of the base set are in the dictionary, in this order. */
  dictionary: Type.Array(Index, { maxItems: LIMITS.setObjects }),
})
/** What a pack holds. */
export type PackHeader = Static<typeof PackHeader>

/** An object that travels, and its namesake in the base. */
export interface PackItem {
  readonly index: number
  readonly object: SetObject
  readonly inBase?: { readonly index: number; readonly object: SetObject }
}

/** The objects of a set, from index `from` on, that the base does not have. */
export function missingItems(target: ObjectSet, base: ObjectSet | undefined, from: number): PackItem[] {
  const known = new Set(base?.objects.map(({ digest }) => digest))
  const namesakes = new Map(base?.objects.map((object, index) => [nameOf(object), { index, object }]))
  return target.objects.slice(from).flatMap((object, offset) => {
    if (known.has(object.digest)) return []
    const inBase = namesakes.get(nameOf(object))
    return [compact({ index: from + offset, object, inBase })]
  })
}

/** What goes into a pack, as bytes; `dictionary` in the order of the header's list. */
export interface PackParts {
  readonly header: Omit<PackHeader, 'format'>
  /** With `from` 0. */
  readonly manifest?: Uint8Array
  readonly objects: readonly Uint8Array[]
  /** With `withBase`. */
  readonly baseManifest?: Uint8Array
  readonly dictionary: readonly Uint8Array[]
}

/**
 * The bytes of a pack: the same parts give the same bytes, so that an interrupted answer can go on where it ended.
 */
export function encodePack(parts: PackParts): Uint8Array {
  const header: PackHeader = { format: 'flotilla.dev/pack/v1', ...parts.header }
  const target = framed([...(parts.manifest ? [parts.manifest] : []), ...parts.objects])
  const base = framed([...(parts.baseManifest ? [parts.baseManifest] : []), ...parts.dictionary])
  return concatBytes([utf8(`${JSON.stringify(header)}\n`), encodeDelta(target, base)])
}

/** Reads a pack's header; the rest needs the dictionary that it names. */
export function openPack(pack: Uint8Array): { readonly header: PackHeader; readonly rest: Uint8Array } {
  const end = pack.indexOf(0x0a)
  if (end < 0) throw new WireError('Malformed', 'pack has no header')
  const header = parseJson(PackHeader, pack.subarray(0, end), { what: 'pack header', maxBytes: LIMITS.blobBytes })
  const { from, to, total } = header
  if (to > total || from > to || (from === to && to < total)) throw new WireError('Malformed', 'pack has no objects')
  return { header, rest: pack.subarray(end + 1) }
}

/** The manifest (when it begins the set) and the objects of an opened pack. */
export function decodePack(
  opened: { readonly header: PackHeader; readonly rest: Uint8Array },
  dictionary: Pick<PackParts, 'baseManifest' | 'dictionary'>,
): { readonly manifest?: Uint8Array; readonly objects: readonly Uint8Array[] } {
  const base = framed([...(dictionary.baseManifest ? [dictionary.baseManifest] : []), ...dictionary.dictionary])
  const parts = unframed(decodeDelta(opened.rest, LIMITS.packBytes, base))
  if (opened.header.from > 0) return { objects: parts }
  const [manifest, ...objects] = parts
  if (!manifest) throw new WireError('Malformed', 'pack has no manifest')
  return { manifest, objects }
}

function nameOf({ apiVersion, kind, namespace = '', name }: SetObject): string {
  return `${apiVersion} ${kind} ${namespace}/${name}`
}

function framed(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + 4 + part.byteLength, 0))
  const view = new DataView(whole.buffer)
  let at = 0
  for (const part of parts) {
    view.setUint32(at, part.byteLength)
    whole.set(part, at + 4)
    at += 4 + part.byteLength
  }
  return whole
}

function unframed(bytes: Uint8Array): Uint8Array[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const parts: Uint8Array[] = []
  let at = 0
  while (at < bytes.byteLength) {
    if (at + 4 > bytes.byteLength) throw new WireError('Malformed', 'pack is cut short')
    const size = view.getUint32(at)
    if (at + 4 + size > bytes.byteLength) throw new WireError('Malformed', 'pack is cut short')
    parts.push(bytes.subarray(at + 4, at + 4 + size))
    at += 4 + size
  }
  return parts
}
