/** Agents under test that have joined a hub of their own and follow it. */
import { createAgentUnderTest } from './agent-under-test.ts'
import type { AgentUnderTest, AgentUnderTestOptions } from './agent-under-test.ts'
import { startTestHub } from '../hub/test-hub.ts'
import type { TestHub } from '../hub/test-hub.ts'

/** Makes them; `close` ends all that were made since it was called last. */
export function joinedAgents() {
  const open: { close(): Promise<void> }[] = []
  return {
    /** What `close` ends, last first; others may be put in. */
    open,
    async joined(options: Partial<AgentUnderTestOptions> = {}): Promise<{ hub: TestHub; site: AgentUnderTest }> {
      const hub = await startTestHub()
      const joinCode = await hub.token('store-1', { clusterName: 'store-1', labels: { tier: 'store' } })
      const site = createAgentUnderTest(hub, 'store-1', { joinCode, ...options })
      open.unshift(site, hub)
      await site.start()
      await hub.clock.runUntil(() => site.agent().linkState() === 'Following', { withinMs: 30_000, what: 'following' })
      return { hub, site }
    },
    async close(): Promise<void> {
      for (const part of open.splice(0)) await part.close()
    },
  }
}
