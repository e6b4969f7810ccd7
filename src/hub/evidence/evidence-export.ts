// Tested by src/cli/commands/evidence/evidence.test.ts
/** `POST …/view.flotilla.dev/v1alpha1/clusters/NAME/evidence`: the evidence of a cluster, on both homes. */
import type { ApiExport } from '../../apiserver/server/serve-export.ts'
import { storePrefix } from '../../apiserver/storage/stored-object.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import { ApiError } from '../../core/errors.ts'
import type { Logger } from '../../core/log.ts'
import type { Clock } from '../../core/time/clock.ts'
import { parseTime } from '../../core/time/time.ts'
import { Lease } from '../../kinds/builtin/coordination.ts'
import {
  JOURNAL_ANNOTATION,
  JOURNAL_LABEL,
  JOURNAL_NAMESPACE,
  parseJournalHead,
} from '../../kinds/fields/journal-head.ts'
import type { JournalHead } from '../../kinds/fields/journal-head.ts'
import type { Store } from '../../store/store.ts'
import { EVIDENCE_PURPOSE } from '../../wire/evidence/evidence-record.ts'
import { exportEvidence, toBytes } from './export-evidence.ts'

export interface EvidenceExportPorts {
  /** Heads of the streams of evidence. */
  readonly heads: (signal: AbortSignal) => Promise<readonly JournalHead[]>
  readonly blobs: Pick<Blobs, 'get'>
  readonly clock: Pick<Clock, 'now'>
  readonly log: Logger
}

export function createEvidenceExport({ heads, blobs, clock, log }: EvidenceExportPorts): ApiExport {
  return {
    group: 'view.flotilla.dev',
    version: 'v1alpha1',
    plural: 'clusters',
    subresource: 'evidence',
    async serve({ name, query, caller, signal }) {
      const text = query.get('since')
      const since = text === null ? undefined : parseTime(text)
      if (text !== null && since === undefined) {
        const shown = JSON.stringify(text.slice(0, 50))
        throw new ApiError('BadRequest', `invalid since ${shown}: must be a time such as 2026-11-18T06:40:00Z`)
      }
      const streams = await heads(signal)
      log.info({ user: caller.user, cluster: name, since: text ?? undefined }, 'evidence is exported')
      return toBytes(exportEvidence(streams, blobs, { cluster: name, since, now: clock.now() }))
    },
  }
}

/** The heads in the store of the embedded home. */
export async function storedHeads(
  store: Pick<Store, 'list'>,
  purpose: string = EVIDENCE_PURPOSE,
): Promise<JournalHead[]> {
  const { entries } = await store.list({ prefix: storePrefix(Lease, JOURNAL_NAMESPACE) })
  return entries
    .map(({ value }) => (JSON.parse(value) as Lease).metadata)
    .filter(({ labels }) => labels?.[JOURNAL_LABEL] === purpose)
    .map(({ name, annotations }) => {
      const head = parseJournalHead(annotations?.[JOURNAL_ANNOTATION])
      if (!head) throw new Error(`Lease ${JOURNAL_NAMESPACE}/${name} is not the head of a journal`)
      return head
    })
}
