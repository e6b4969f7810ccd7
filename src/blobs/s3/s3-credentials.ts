/** Credentials of an S3 account, from files, values or a web identity; read again before they end. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { utf8 } from '../../core/bytes.ts'
import { Stalled } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import type { Clock } from '../../core/time/clock.ts'
import { parseTime } from '../../core/time/time.ts'
import type { S3AccountSource } from './s3-settings.ts'
import type { SendHttp } from './send-http.ts'
import type { S3Credentials } from './sign-request.ts'
import { elementText } from './xml-text.ts'

/** Gives the credentials as they are now. */
export interface CredentialReader {
  current(signal: AbortSignal): Promise<S3Credentials>
  /** The server refused them: the next call reads them anew. */
  forget(): void
}

interface Held {
  readonly credentials: S3Credentials
  /** Milliseconds since 1970; they are read again after this time. */
  readonly until: number
}

/** Files of a Secret change some time after the Secret does. */
const FILES_MS = 60_000
/** Credentials are exchanged this long before they end. */
const EARLY_MS = 5 * 60_000
const MAX_ANSWER_BYTES = 64 * 1024

export function createCredentialReader(
  source: S3AccountSource,
  { clock, send }: { readonly clock: Pick<Clock, 'now'>; readonly send: SendHttp },
): CredentialReader {
  let held: Held | undefined
  let reading: Promise<Held> | undefined

  return {
    async current(signal) {
      if (held && clock.now() < held.until) return held.credentials
      // One request for all that wait.
      reading ??= read(source, { now: clock.now(), send, signal }).finally(() => (reading = undefined))
      held = await reading
      return held.credentials
    },
    forget: () => void (held = undefined),
  }
}

interface Reading {
  readonly now: number
  readonly send: SendHttp
  readonly signal: AbortSignal
}

async function read(source: S3AccountSource, reading: Reading): Promise<Held> {
  switch (source.from) {
    case 'values':
      return { credentials: credentialsOf(source), until: Number.POSITIVE_INFINITY }
    case 'folder':
      return { credentials: await readFolder(source.folder), until: reading.now + FILES_MS }
    case 'webIdentity':
      return await exchange(source, reading)
  }
}

async function readFolder(folder: string): Promise<S3Credentials> {
  const fileOf = async (name: string): Promise<string | undefined> => {
    const text = await readFile(join(folder, name), 'utf8').catch((caught: unknown) => {
      if (caught instanceof Error && 'code' in caught && caught.code === 'ENOENT') return undefined
      throw caught
    })
    return text?.trim()
  }
  const [accessKeyId, secretAccessKey, sessionToken] = await Promise.all([
    fileOf('access-key-id'),
    fileOf('secret-access-key'),
    fileOf('session-token'),
  ])
  if (!accessKeyId || !secretAccessKey) {
    throw new Stalled('CredentialsMissing', 'no credentials for S3', {
      where: folder,
      todo: 'the directory must contain the files access-key-id and secret-access-key',
    })
  }
  return credentialsOf({ accessKeyId, secretAccessKey, sessionToken })
}

async function exchange(
  { tokenFile, roleArn, tokenService }: Extract<S3AccountSource, { readonly from: 'webIdentity' }>,
  { send, signal }: Reading,
): Promise<Held> {
  const token = (await readFile(tokenFile, 'utf8')).trim()
  const form = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: 'flotilla-hub',
    WebIdentityToken: token,
  })
  const url = new URL(tokenService)
  const { status, body } = await send(
    {
      origin: url.origin,
      method: 'POST',
      path: url.pathname,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: utf8(form.toString()),
      maxBytes: MAX_ANSWER_BYTES,
    },
    signal,
  )
  const xml = new TextDecoder().decode(body)
  const accessKeyId = elementText(xml, 'AccessKeyId')
  const secretAccessKey = elementText(xml, 'SecretAccessKey')
  const end = parseTime(elementText(xml, 'Expiration') ?? '')
  if (status !== 200 || accessKeyId === undefined || secretAccessKey === undefined || end === undefined) {
    const why = [elementText(xml, 'Code'), elementText(xml, 'Message')].filter((text) => text !== undefined)
    throw new Error(
      `the security token service ${url.origin} gave no credentials for role ${roleArn}: ${[status, ...why].join(' ')}`,
    )
  }
  const sessionToken = elementText(xml, 'SessionToken')
  return { credentials: credentialsOf({ accessKeyId, secretAccessKey, sessionToken }), until: end - EARLY_MS }
}

function credentialsOf(plain: {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}): S3Credentials {
  const { accessKeyId, secretAccessKey, sessionToken } = plain
  return {
    accessKeyId,
    secretAccessKey: new Secret(secretAccessKey),
    sessionToken: sessionToken ? new Secret(sessionToken) : undefined,
  }
}
