/** Why the newest document was refused: in memory for the report, and on disk for `flotilla check --agent`. */
import { jsonEqual } from '../../core/json.ts'
import type { Logger } from '../../core/log.ts'
import type { Refusal } from '../../wire/link/frames.ts'
import { LIMITS } from '../../wire/limits.ts'
import type { AgentStorage } from '../storage/storage.ts'
import { readRefusal, writeRefusal } from './document-file.ts'

/** Creates the record of refusals, without a refusal. */
export function createRefusalRecord(storage: AgentStorage, log: Logger) {
  let current: Refusal | undefined
  let onDisk: Refusal | undefined
  /** True once this start accepted or refused a document. Before, the refusal of the last start stays on disk. */
  let isJudged = false
  return {
    current: () => current,
    async load(): Promise<void> {
      onDisk ??= await readRefusal(storage).catch(() => undefined)
    },
    refuse(reason: string, message: string, what: Omit<Refusal, 'reason' | 'message'> = {}): void {
      const next = { reason, message: message.slice(0, LIMITS.messageChars), ...what }
      isJudged = true
      // The same refusal stays the same object: the bundle loop compares objects to see a change.
      if (jsonEqual(current, next)) return
      log.warn({ reason }, message)
      current = next
    },
    /** A document was accepted. */
    clear(): void {
      current = undefined
      isJudged = true
    },
    async save(): Promise<void> {
      if (!isJudged || jsonEqual(current, onDisk)) return
      await writeRefusal(storage, current)
      onDisk = current
    },
  }
}
