/** Values of drifted fields, which an agent seals to a key of this tab: the hub stores and sends only ciphertext. */
import { readDriftValues } from '../../../src/plan/drift/drift-values.ts'
import type { DriftValues, DriftValuesContext } from '../../../src/plan/drift/drift-values.ts'

/** A key pair of this tab; its private key never leaves the browser's crypto. */
export interface RequestKey {
  /** SPKI in base64. */
  readonly publicKey: string
  readonly privateKey: CryptoKey
}

const { subtle } = crypto
const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text)
const fromBase64 = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(atob(text), (one) => one.charCodeAt(0))
const textOf = (bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): string => new TextDecoder().decode(bytes)
const toBase64 = (bytes: ArrayBuffer): string => btoa(String.fromCharCode(...new Uint8Array(bytes)))
const isPair = (key: object): key is Record<'publicKey' | 'privateKey', CryptoKey> => 'privateKey' in key

let tabKey: Promise<RequestKey> | undefined

/** The key of this tab: once the tab is closed, no answer can be read any more. */
export function keyOfTab(): Promise<RequestKey> {
  tabKey ??= newRequestKey()
  return tabKey
}

/** Creates a key pair. */
export async function newRequestKey(): Promise<RequestKey> {
  const pair = await subtle.generateKey({ name: 'X25519' }, false, ['deriveBits'])
  if (!isPair(pair)) throw new Error('the browser made no key pair')
  return { publicKey: toBase64(await subtle.exportKey('spki', pair.publicKey)), privateKey: pair.privateKey }
}

/** Opens sealed values, as `openDriftValues` of src/plan/drift does. */
export async function openSealedValues(
  { clusterId, bundle, asked }: DriftValuesContext,
  sealed: string,
  { publicKey, privateKey }: RequestKey,
): Promise<DriftValues> {
  const { ephemeral = '', box = '' } = JSON.parse(textOf(fromBase64(sealed))) as { ephemeral?: string; box?: string }
  const about = utf8(JSON.stringify(['flotilla.dev/drift-values/v1', clusterId, bundle, asked]))
  const sender = await subtle.importKey('spki', fromBase64(ephemeral), { name: 'X25519' }, false, [])
  const shared = await subtle.deriveBits({ name: 'X25519', public: sender }, privateKey, 256)
  const key = await subtle.deriveKey(
    { name: 'HKDF', hash: 'SHA-256', salt: utf8(`${ephemeral} ${publicKey}`), info: about },
    await subtle.importKey('raw', shared, 'HKDF', false, ['deriveKey']),
    { name: 'AES-GCM', length: 256 },
    false,
    ['decrypt'],
  )
  const form = { name: 'AES-GCM', iv: new Uint8Array(12), additionalData: about }
  return readDriftValues(textOf(await subtle.decrypt(form, key, fromBase64(box))))
}
