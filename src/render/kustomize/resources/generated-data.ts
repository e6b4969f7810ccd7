/** The data of generated ConfigMaps and Secrets. */
import { base64, utf8 } from '../../../core/bytes.ts'
import { clearField, fieldOf, lookup, setField } from '../nodes/node.ts'
import type { YamlNode } from '../nodes/node.ts'
import { textMap } from './resource.ts'
import type { Resource, StringMap } from './resource.ts'
import { LITERAL, PLAIN, makeNode } from '../../../yaml/node.ts'

/** Data and binaryData of an object, as text. */
export function generatedData(resource: Resource): { data: StringMap; binaryData: StringMap } {
  return { data: textMap(fieldOf(resource.node, 'data')), binaryData: textMap(fieldOf(resource.node, 'binaryData')) }
}

/** Replaces the data or the binaryData of an object; without entries the field goes. */
export function setGeneratedData(resource: Resource, field: 'data' | 'binaryData', map: StringMap): void {
  clearField(resource.node, field)
  const target = map.size > 0 && resource.node ? lookup(resource.node, [field], 'mapping') : undefined
  if (!target) return
  for (const key of [...map.keys()].sort()) setField(target, key, blockScalar(map.get(key)!))
}

/** Adds a ConfigMap's entry: text to data, binary content in base64 to binaryData. */
export function addConfigMapEntry(node: YamlNode, key: string, value: Uint8Array): void {
  const text = textIfUtf8(value)
  const field = text === undefined ? 'binaryData' : 'data'
  const target = lookup(node, [field], 'mapping')!
  setField(target, key, blockScalar(text ?? wrappedBase64(value)))
}

/** Adds a Secret's entry, in base64. */
export function addSecretEntry(data: YamlNode, key: string, value: Uint8Array): void {
  setField(data, key, blockScalar(wrappedBase64(value)))
}

/** The text of bytes, or nothing when they are no UTF-8. */
export function textIfUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Bytes of a text. */
export function bytesOf(text: string): Uint8Array {
  return utf8(text)
}

const LINE = 70

function wrappedBase64(bytes: Uint8Array): string {
  const text = base64(bytes)
  if (text.length < LINE) return text
  let lines = ''
  for (let i = 0; i < text.length; i += LINE) lines += `${text.slice(i, i + LINE)}\n`
  return lines
}

function blockScalar(value: string): YamlNode {
  return makeNode('scalar', { tag: '!!str', value, style: value.includes('\n') ? LITERAL : PLAIN })
}
