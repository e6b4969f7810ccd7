/** The document and the last refusal on the agent's disk. */
import { base64, fromBase64, utf8 } from '../../core/bytes.ts'
import { Type } from '../../core/schema/typebox.ts'
import type { TrustedKey } from '../../wire/trust/envelope.ts'
import { Refusal } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import { openDocument } from '../../wire/document/signed-document.ts'
import { acceptTrust } from '../../wire/trust/trust-bundle.ts'
import type { VerifiedTrust } from '../../wire/trust/trust-bundle.ts'
import { parseJson } from '../../wire/validate.ts'
import { AGENT_FILES } from '../storage/storage.ts'
import type { AgentStorage } from '../storage/storage.ts'

// The document with the trust bundle that verified it: after a rotation of signers it must still open without the hub.
const DocumentFile = Type.Object({ document: Type.String(), trust: Type.String() })
const RefusalFile = Type.Object({ refusal: Type.Optional(Refusal) })

/** The stored document, verified again by the root; undefined before the first document. */
export async function readDocument(storage: AgentStorage, root: TrustedKey) {
  const bytes = await storage.read(AGENT_FILES.document)
  if (!bytes) return undefined
  const file = parseJson(DocumentFile, bytes, { what: AGENT_FILES.document, maxBytes: 4 * LIMITS.documentBytes })
  const trust = acceptTrust(root, undefined, fromBase64(file.trust))
  const envelope = fromBase64(file.document)
  return { ...openDocument(envelope, trust.signers), envelope }
}

/** Stores a document with the trust bundle that verified it. */
export async function writeDocument(storage: AgentStorage, envelope: Uint8Array, trust: VerifiedTrust): Promise<void> {
  const file = { document: base64(envelope), trust: base64(trust.envelope) }
  await storage.write(AGENT_FILES.document, utf8(JSON.stringify(file)))
}

/** Why the newest document was refused; undefined when it was accepted. */
export async function readRefusal(storage: AgentStorage): Promise<Refusal | undefined> {
  const bytes = await storage.read(AGENT_FILES.refusal)
  return bytes && parseJson(RefusalFile, bytes, { what: AGENT_FILES.refusal, maxBytes: LIMITS.answerBytes }).refusal
}

/** Stores the refusal for `flotilla check --agent`, or its absence. */
export async function writeRefusal(storage: AgentStorage, refusal: Refusal | undefined): Promise<void> {
  await storage.write(AGENT_FILES.refusal, utf8(JSON.stringify(refusal ? { refusal } : {})))
}
