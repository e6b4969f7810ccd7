/** `flotilla audit --verify`: the hash chain of the audit log, and the checkpoints that the hub signed. */
import { findObject } from '../../../client/find-object.ts'
import { clientOver } from '../../../client/create-client.ts'
import { isApiError } from '../../../core/errors.ts'
import { ConfigMap } from '../../../kinds/builtin/core.ts'
import { CliError, EXIT } from '../../errors/cli-error.ts'
import { readRootKey } from '../../root-key-file.ts'
import { readPage } from './audit-pages.ts'
import type { AuditInput, Shown } from './audit-pages.ts'

const COMPARE = 'do not change the database; compare it with a backup ("flotilla restore FILE --drill")'

/** Reads all records. A hash proves nothing without the hashes before it, so the check begins with the first record. */
export async function verifyAudit({ connection, terminal, flags }: AuditInput): Promise<void> {
  const { AUDIT_GENESIS, CHECKPOINTS, findAuditBreak, keyIdOf, verifyCheckpoints } =
    await import('../../../hub/verify-audit.ts')
  const root = flags.rootKey === undefined ? undefined : await readRootKey(flags.rootKey, keyIdOf)
  // Read first: records that are written meanwhile are behind the checkpoints.
  const data = root === undefined ? {} : await readCheckpoints(connection, CHECKPOINTS)
  const signed = root === undefined ? undefined : verifyCheckpoints(data, root)
  const hashes = new Map(signed?.checkpoints.map(({ sequence, hash }) => [sequence, hash]))
  let previous: Pick<Shown, 'sequence' | 'hash'> = { sequence: 0, hash: AUDIT_GENESIS }
  for (;;) {
    const page = await readPage(connection, previous.sequence)
    const broken = findAuditBreak(page, previous)
    if (broken !== undefined) throw brokenAt(broken)
    for (const { sequence, hash } of page) {
      if (hashes.has(sequence) && hashes.get(sequence) !== hash) throw rewrittenBefore(sequence)
      hashes.delete(sequence)
    }
    const last = page.at(-1)
    if (!last) break
    previous = last
  }
  const [missing] = hashes.keys()
  if (missing !== undefined) throw rewrittenBefore(missing)
  const newest = signed?.checkpoints.at(-1)
  if (signed && (signed.problems.length > 0 || !newest)) {
    throw new CliError(EXIT.failed, {
      what: 'the hash chain is whole, and its checkpoints are not verified',
      why: signed.problems[0] ?? 'the hub has no signed checkpoint yet; it signs one about every 10 minutes',
      todo: 'compare the root key with "flotilla trust export", and try again later',
    })
  }
  const { sequence: records, hash } = previous
  const checkpoints = signed?.checkpoints.length
  if (flags.output === 'json') {
    const more = newest ? { checkpoints, newestCheckpoint: newest } : {}
    terminal.data(`${JSON.stringify({ records, hash, ...more })}\n`)
    return
  }
  terminal.data(`${records} records, hash chain verified; the last hash is ${hash}\n`)
  if (newest) {
    terminal.data(
      `${checkpoints} signed checkpoints verified; the newest one is of ${newest.time} and proves records 1 to ${newest.sequence}\n`,
    )
  } else terminal.say('Checkpoints are not verified; verify their signatures with --root-key FILE')
}

async function readCheckpoints(
  { rest }: AuditInput['connection'],
  key: { readonly namespace: string; readonly name: string },
): Promise<Record<string, string>> {
  try {
    return (await findObject(clientOver(rest), ConfigMap, key))?.data ?? {}
  } catch (caught) {
    if (!isApiError(caught, 'Forbidden')) throw caught
    throw new CliError(EXIT.failed, {
      what: `cannot read the checkpoints in ConfigMap ${key.namespace}/${key.name}`,
      why: caught.message,
      todo: 'ask for the verb get on this ConfigMap',
    })
  }
}

function brokenAt(sequence: number): CliError {
  return new CliError(EXIT.failed, {
    what: `the hash chain of the audit log is broken at record ${sequence}`,
    why: 'this record or an earlier one was changed, removed or inserted',
    todo: COMPARE,
  })
}

function rewrittenBefore(sequence: number): CliError {
  return new CliError(EXIT.failed, {
    what: `the audit log does not contain what the hub signed at record ${sequence}`,
    why: 'records up to this one were written anew or removed after the hub signed them',
    todo: COMPARE,
  })
}
