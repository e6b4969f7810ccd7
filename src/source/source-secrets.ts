// Tested by src/source/git/submodules.contract.test.ts.
/** Secrets of a Source besides its credentials: a proxy, and public keys. */
import { fromBase64, fromUtf8 } from '../core/bytes.ts'
import { compact } from '../core/compact.ts'
import type { Secret } from '../kinds/builtin/core.ts'
import { SourceError } from './source-error.ts'
import { parseSourceUrl } from './source-url.ts'

/** A proxy; plain data, so that it can be sent to another thread. */
export interface SourceProxy {
  readonly address: string
  readonly username?: string
  readonly password?: string
}

/** Reads `address`, `username` and `password` of a Secret. */
export function readProxy({ metadata, data = {} }: Secret): SourceProxy {
  const secret = `${metadata.namespace ?? ''}/${metadata.name}`
  const text = (key: string): string | undefined => {
    const value = data[key]
    try {
      return value === undefined ? undefined : fromUtf8(fromBase64(value)).trim()
    } catch {
      throw new SourceError('BadCredentials', `${key} of Secret ${secret} is not UTF-8 text.`)
    }
  }
  const address = text('address')
  if (!address) throw new SourceError('BadCredentials', `Secret ${secret} has no key "address" with a proxy.`)
  return compact({
    address: parseSourceUrl(address, ['http', 'https']).text,
    username: text('username'),
    password: text('password'),
  })
}

/** The address with the credential. */
export function proxyAddress({ address, username, password }: SourceProxy): string {
  const url = new URL(address)
  if (username !== undefined) url.username = username
  if (password !== undefined) url.password = password
  return url.href
}

/** All armored public keys in a Secret, whatever the names of its keys. */
export function readKeyring({ metadata, data = {} }: Secret): string {
  return Object.entries(data)
    .map(([key, value]) => {
      try {
        return fromUtf8(fromBase64(value))
      } catch {
        const secret = `${metadata.namespace ?? ''}/${metadata.name}`
        throw new SourceError('BadCredentials', `${key} of Secret ${secret} is not UTF-8 text.`)
      }
    })
    .join('\n')
}
