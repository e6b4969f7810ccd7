/** Opens OpenPGP messages with the data keys of SOPS files, by the package `openpgp` (ADR 0021). */
import { toError } from '../../core/errors.ts'
import { Secret } from '../../core/secret.ts'
import { MessagesWanted } from '../../render/bundle/builder.ts'
import type { OpenedMessage, OpenedMessages } from '../../render/sops/key-ring.ts'

const MAX_KEYS = 100
const MAX_MESSAGES = 1_000
const TOO_MANY = `the build has more than ${MAX_MESSAGES} messages of OpenPGP`
const DATA_KEY_BYTES = 32
const PRIVATE_KEY_BLOCK = /-----BEGIN PGP PRIVATE KEY BLOCK-----[\s\S]*?-----END PGP PRIVATE KEY BLOCK-----/g

/** Opens armored messages with armored private keys; what does not open has its reason. */
export async function openPgpMessages(
  messages: readonly string[],
  armoredKeys: readonly string[],
): Promise<OpenedMessages> {
  if (messages.length === 0) return new Map()
  // Loaded with the first message: most hubs have none.
  const { decrypt, readMessage, readPrivateKeys } = await import('openpgp')
  const blocks = armoredKeys.flatMap((text) => text.match(PRIVATE_KEY_BLOCK) ?? []).slice(0, MAX_KEYS)
  const read = await Promise.allSettled(blocks.map((block) => readPrivateKeys({ armoredKeys: block })))
  const decryptionKeys = read.flatMap((result) => (result.status === 'fulfilled' ? result.value : []))
  const locked = decryptionKeys.some((key) => !key.isDecrypted())

  async function open(armoredMessage: string): Promise<OpenedMessage> {
    if (decryptionKeys.length === 0) {
      const why = blocks.length === 0 ? 'there is no private key *.asc' : 'no key *.asc can be read'
      return { problem: `no secret key: ${why}` }
    }
    try {
      const message = await readMessage({ armoredMessage })
      const ids = message.getEncryptionKeyIDs().map((id) => id.toHex().toUpperCase())
      const usable = decryptionKeys.filter((key) => key.isDecrypted())
      const isOurs = usable.some((key) =>
        key.getKeys().some((one) => ids.includes(one.getKeyID().toHex().toUpperCase())),
      )
      // A message can hide its recipients behind the id 0.
      if (!isOurs && !ids.includes('0'.repeat(16))) {
        const passphrase = locked ? '; keys with a passphrase are not used' : ''
        return { problem: `no secret key: encrypted for key ${ids.join(', ') || 'of a passphrase'}${passphrase}` }
      }
      const { data } = await decrypt({ message, decryptionKeys: usable, format: 'binary' })
      const key = new Uint8Array(data as Uint8Array)
      if (key.byteLength < DATA_KEY_BYTES) return { problem: 'the message has no data key' }
      return { dataKey: new Secret(key) }
    } catch (caught) {
      return { problem: toError(caught).message }
    }
  }

  const opened = new Map<string, OpenedMessage>()
  for (const message of messages.slice(0, MAX_MESSAGES)) opened.set(message, await open(message))
  return opened
}

/** Repeats a render until all messages that it needs were opened. */
export async function withOpenedMessages<T>(render: (opened: OpenedMessages) => T): Promise<T> {
  const opened = new Map<string, OpenedMessage>()
  for (;;) {
    try {
      return render(opened)
    } catch (caught) {
      if (!(caught instanceof MessagesWanted)) throw caught
      const unknown = caught.messages.filter((message) => !opened.has(message))
      if (unknown.length === 0) throw caught
      const found = await openPgpMessages(unknown, caught.armoredKeys.reveal())
      for (const message of unknown) opened.set(message, found.get(message) ?? { problem: TOO_MANY })
    }
  }
}
