/** The link of an agent: which part of the agent each frame and each state of the link reaches. */
import { parseTime } from '../core/time/time.ts'
import type { LinkState } from '../wire/link/agent-link.ts'
import type { createBundleLoop } from './bundles/bundle-loop.ts'
import type { Content } from './documents/content.ts'
import type { Documents } from './documents/documents.ts'
import type { HubTime } from './link/hub-time.ts'
import { createLink } from './link/link.ts'
import type { Link } from './link/link.ts'
import type { LinkPorts } from './link/link-session.ts'
import type { createReporter } from './report/reporter.ts'

/** The parts that the link gives notices to. They need the link themselves, and exist only after it. */
export interface LinkedParts {
  readonly hubTime: HubTime
  readonly documents: () => Documents
  readonly content: () => Content
  readonly bundleLoop: () => Pick<ReturnType<typeof createBundleLoop>, 'wake'>
  readonly reporter: () => Pick<ReturnType<typeof createReporter>, 'wake' | 'checkInEvery'>
}

type Own = 'connect' | 'storage' | 'clock' | 'ids' | 'log' | 'newKeyPair' | 'identity' | 'agentVersion'

/** Creates the link of an agent. */
export async function createAgentLink(
  ports: Pick<LinkPorts, Own>,
  { hubTime, documents, content, bundleLoop, reporter }: LinkedParts,
): Promise<Link & { state(): LinkState['at'] }> {
  let state: LinkState['at'] = 'Unenrolled'
  const link = await createLink({
    ...ports,
    holds: () => documents().current()?.digest,
    onHead: (head) => {
      documents().want(head)
      bundleLoop().wake()
    },
    onLastDocument: (envelope) => {
      documents().offer(envelope)
      bundleLoop().wake()
    },
    onBeat: (beat) => {
      const at = parseTime(beat.at)
      if (at !== undefined) hubTime.hear(at)
      reporter().checkInEvery(beat.checkInSeconds)
    },
    sealingKeysInUse: async () => {
      const current = documents().current()
      // Without a document it is unknown which values are still to come.
      if (!current) return () => true
      return content().keysInUse(current.document.content.entries.flatMap(({ sealed }) => sealed ?? []))
    },
    retiredSealingKey: () => {
      const current = documents().current()
      const key = current?.document.rules.retireSealingKey
      return current && key !== undefined ? { key, document: current.digest } : undefined
    },
    onState: (next) => {
      state = next.at
      if (next.at !== 'Following') return
      bundleLoop().wake()
      reporter().wake()
    },
  })
  return { ...link, state: () => state }
}
