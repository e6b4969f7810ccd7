/** The result of every renderer: objects, and the bytes under which they are stored. */
import { utf8 } from '../core/bytes.ts'
import { compact } from '../core/compact.ts'
import { digestOf } from '../core/crypto/digest.ts'
import type { Digest } from '../core/crypto/digest.ts'
import { canonicalJson } from '../core/json.ts'
import type { UnknownObject } from '../kinds/meta.ts'

/** A part of the input that cannot be rendered. */
export interface RenderProblem {
  /** A sentence: the problem and how to fix it. */
  readonly message: string
  /** The file of the artifact. */
  readonly file?: string
  /** Number of the document, from 1. */
  readonly document?: number
  /** From 1. */
  readonly line?: number
  readonly column?: number
  /** Name of the policy that denies the object. */
  readonly rule?: string
  /** Names of Secrets that are refused, because the repository contains their values. */
  readonly plaintext?: readonly string[]
}

/** The objects, or every problem; plain data, so that it can be sent between threads. */
export type RenderResult =
  | { readonly ok: true; readonly objects: readonly UnknownObject[] }
  | { readonly ok: false; readonly problems: readonly RenderProblem[] }

/** The canonical bytes of an object, their digest, and the object's name. */
export interface RenderedBlob {
  readonly apiVersion: string
  readonly kind: string
  readonly namespace?: string
  readonly name: string
  readonly digest: Digest
  readonly bytes: Uint8Array
}

/** The identity of an object within a cluster, as text. */
export function objectIdentity(object: UnknownObject): string {
  const { namespace, name } = object.metadata
  return `${object.apiVersion} ${object.kind} ${namespace ? `${namespace}/` : ''}${name}`
}

/** Converts objects to blobs, in an order that does not depend on the order of the input. */
export function toBlobs(objects: readonly UnknownObject[]): RenderedBlob[] {
  const keyed = objects.map((object) => ({ object, identity: objectIdentity(object) }))
  keyed.sort((a, b) => (a.identity < b.identity ? -1 : a.identity > b.identity ? 1 : 0))
  return keyed.map(({ object }) => {
    const bytes = utf8(canonicalJson(object))
    const { namespace, name } = object.metadata
    return compact({
      apiVersion: object.apiVersion,
      kind: object.kind,
      namespace: namespace || undefined,
      name,
      digest: digestOf(bytes),
      bytes,
    })
  })
}

/** Joins problems to one text: the location of each problem, then its message. */
export function describeProblems(problems: readonly RenderProblem[], most = 5): string {
  const shown = problems.slice(0, most).map(({ message, file, document, line, column }) => {
    const where = [
      ...(file === undefined ? [] : [file]),
      ...(document === undefined ? [] : [`document ${document}`]),
      ...(line === undefined ? [] : [`line ${line}`]),
      ...(column === undefined ? [] : [`column ${column}`]),
    ]
    return where.length === 0 ? message : `${where.join(', ')}: ${message}`
  })
  const more = problems.length > most ? [`and ${problems.length - most} more`] : []
  return [...shown, ...more].join('; ')
}
