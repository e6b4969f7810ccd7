/** The token of an agent's own account, as a file that outlives a restart of the hub. */
import type { Static } from 'typebox'
import type { Connection } from '../../client/connection.ts'
import { utf8 } from '../../core/bytes.ts'
import { Type } from '../../core/schema/typebox.ts'
import { parseJson } from '../../wire/validate.ts'
import { AGENT_FILES } from '../storage/storage.ts'
import type { AgentStorage } from '../storage/storage.ts'

const TokenFile = Type.Object({
  server: Type.String(),
  ca: Type.Optional(Type.String()),
  token: Type.String(),
  expiresAt: Type.Integer(),
  renewAt: Type.Integer(),
  /** UID of namespace kube-system. */
  uid: Type.Optional(Type.String()),
})
export type TokenFile = Static<typeof TokenFile>

/** The stored token; undefined for a partial file and for a file of another version. */
export async function readTokenFile(storage: AgentStorage): Promise<TokenFile | undefined> {
  const bytes = await storage.read(AGENT_FILES.access)
  try {
    return bytes && parseJson(TokenFile, bytes, { what: AGENT_FILES.access, maxBytes: 1024 * 1024 })
  } catch {
    return undefined
  }
}

export async function writeTokenFile(storage: AgentStorage, file: TokenFile): Promise<void> {
  await storage.write(AGENT_FILES.access, utf8(JSON.stringify(file)))
}

/** True if both lead to the same server: a token never goes to another. */
export function isSameServer(
  one: Pick<Connection, 'server' | 'ca'>,
  other: Pick<Connection, 'server' | 'ca'>,
): boolean {
  return one.server === other.server && one.ca === other.ca
}
