// Tested by src/cli/commands/compliance/compliance-history.test.ts
/** `POST …/view.flotilla.dev/v1alpha1/clusters/NAME/compliance`: the history of compliance; `-` is every cluster. */
import type { ApiExport } from '../../apiserver/server/serve-export.ts'
import type { Blobs } from '../../blobs/blobs.ts'
import type { Logger } from '../../core/log.ts'
import { readJournal } from '../../journal/journal-reader.ts'
import type { JournalHead } from '../../kinds/fields/journal-head.ts'
import { toBytes } from './export-evidence.ts'

export interface ComplianceExportPorts {
  /** Heads of the streams of compliance. */
  readonly heads: (signal: AbortSignal) => Promise<readonly JournalHead[]>
  readonly blobs: Pick<Blobs, 'get'>
  readonly log: Logger
}

export function createComplianceExport({ heads, blobs, log }: ComplianceExportPorts): ApiExport {
  return {
    group: 'view.flotilla.dev',
    version: 'v1alpha1',
    plural: 'clusters',
    subresource: 'compliance',
    async serve({ name, caller, signal }) {
      const streams = await heads(signal)
      log.info({ user: caller.user, cluster: name }, 'the history of compliance is exported')
      return toBytes(historyLines(streams, blobs, name))
    },
  }
}

async function* historyLines(
  heads: readonly JournalHead[],
  blobs: Pick<Blobs, 'get'>,
  cluster: string,
): AsyncGenerator<string> {
  for (const head of heads) {
    for await (const part of readJournal(head, blobs, { since: 0 })) {
      if (part.kind === 'Unreadable') {
        yield JSON.stringify({ type: 'gap', message: part.message })
        continue
      }
      const { lost } = part.header
      if (lost) yield JSON.stringify({ type: 'gap', message: `${lost.records} records of ${head.stream} were lost` })
      for (const line of part.records) if (cluster === '-' || line.includes(JSON.stringify(cluster))) yield line
    }
  }
  // Without the last line, the answer is not complete.
  yield JSON.stringify({ type: 'end' })
}
