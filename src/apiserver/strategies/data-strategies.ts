import { base64, fromBase64, utf8 } from '../../core/bytes.ts'
import { isObject, jsonEqual } from '../../core/json.ts'
import type { JsonObject } from '../../core/json.ts'
import { dataKeyProblems } from '../../core/text/name-validation.ts'
import { mapAt, textAt } from '../../kinds/builtin/read-path.ts'
import type { UnknownObject } from '../../kinds/meta.ts'
import { forbidden, invalid, required, tooLong } from '../../kinds/validation/field-error.ts'
import type { FieldError } from '../../kinds/validation/field-error.ts'
import type { Strategy } from './strategy.ts'

/** ConfigMaps and Secrets: what their keys may be, what a type of secret needs, and what may no longer change. */

const MAX_BYTES = 1024 * 1024
const REDACTED = '<secret contents redacted>'

const secret: Strategy = {
  prepare(object) {
    const { stringData } = object
    if (isObject(stringData)) {
      const data: JsonObject = isObject(object['data']) ? { ...object['data'] } : {}
      for (const [key, value] of Object.entries(stringData)) data[key] = base64(utf8(String(value)))
      object['data'] = data
    }
    delete object['stringData']
    object['type'] ||= 'Opaque'
  },
  validate(object, old) {
    const errors: FieldError[] = []
    if (old && object['type'] !== old['type']) errors.push(invalid('type', object['type'], 'field is immutable'))
    if (old) errors.push(...immutableErrors(object, old, ['data']))
    const data = mapAt(object, 'data')
    errors.push(...keyErrors(data, 'data'))
    if (bytesOf(Object.values(data).map(decodedSize)) > MAX_BYTES) errors.push(tooLong('data', MAX_BYTES))
    return [...errors, ...typeErrors(object)]
  },
}

const configMap: Strategy = {
  validate(object, old) {
    const errors = old ? immutableErrors(object, old, ['data', 'binaryData']) : []
    const [data, binary] = [mapAt(object, 'data'), mapAt(object, 'binaryData')]
    errors.push(...keyErrors(data, 'data'))
    for (const key of Object.keys(data)) {
      if (Object.hasOwn(binary, key))
        errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'))
    }
    errors.push(...keyErrors(binary, 'binaryData'))
    const sizes = [
      ...Object.values(data).map((value) => utf8(String(value)).length),
      ...Object.values(binary).map(decodedSize),
    ]
    if (bytesOf(sizes) > MAX_BYTES) errors.push(tooLong('', MAX_BYTES))
    return errors
  },
}

function keyErrors(data: JsonObject, field: string): FieldError[] {
  return Object.keys(data).flatMap((key) =>
    dataKeyProblems(key).map((problem) => invalid(`${field}[${key}]`, key, problem)),
  )
}

function bytesOf(sizes: readonly number[]): number {
  return sizes.reduce((sum, size) => sum + size, 0)
}

function decodedSize(value: unknown): number {
  const text = String(value)
  return Math.floor((text.replace(/=+$/, '').length * 3) / 4)
}

/** What secrets of Kubernetes' own types need: with one of the keys there, or each of them. */
function typeErrors(object: UnknownObject): FieldError[] {
  const data = mapAt(object, 'data')
  const has = (key: string) => Object.hasOwn(data, key)
  const missing = (...keys: readonly string[]) => keys.map((key) => required(`data[${key}]`))
  switch (textAt(object, 'type')) {
    case 'kubernetes.io/service-account-token': {
      const account = 'kubernetes.io/service-account.name'
      return object.metadata.annotations?.[account] ? [] : [required(`metadata.annotations[${account}]`)]
    }
    case 'kubernetes.io/dockercfg':
      return has('.dockercfg') ? jsonErrors(data, '.dockercfg') : missing('.dockercfg')
    case 'kubernetes.io/dockerconfigjson':
      return has('.dockerconfigjson') ? jsonErrors(data, '.dockerconfigjson') : missing('.dockerconfigjson')
    case 'kubernetes.io/basic-auth':
      return has('username') || has('password') ? [] : missing('username', 'password')
    case 'kubernetes.io/ssh-auth':
      return data['ssh-privatekey'] ? [] : missing('ssh-privatekey')
    case 'kubernetes.io/tls':
      return missing(...['tls.crt', 'tls.key'].filter((key) => !has(key)))
    default:
      return []
  }
}

function jsonErrors(data: JsonObject, key: string): FieldError[] {
  const text = new TextDecoder().decode(fromBase64(String(data[key])))
  try {
    if (isObject(JSON.parse(text))) return []
  } catch {
    // Said below.
  }
  return [invalid(`data[${key}]`, REDACTED, 'must be a JSON object')]
}

function immutableErrors(object: UnknownObject, old: UnknownObject, fields: readonly string[]): FieldError[] {
  if (old['immutable'] !== true) return []
  const errors: FieldError[] = []
  if (object['immutable'] !== true) errors.push(forbidden('immutable', 'field is immutable when `immutable` is set'))
  for (const field of fields) {
    if (!jsonEqual(object[field], old[field])) {
      errors.push(forbidden(field, 'field is immutable when `immutable` is set'))
    }
  }
  return errors
}

/** By group and kind. */
export const DATA_STRATEGIES: Readonly<Record<string, Strategy>> = { '/Secret': secret, '/ConfigMap': configMap }
