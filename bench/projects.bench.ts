/**
 * Cost of Projects at API admission: node bench/projects.bench.ts [PROJECTS]. Bundles are created as dry runs on the
 * embedded API in memory, with one Project and with many, in turns; the median of five rounds each. Measured is the CPU
 * time of this thread.
 */
import { Namespace } from '../src/kinds/builtin/core.ts'
import { Bundle } from '../src/kinds/native/bundle.ts'
import { Project } from '../src/kinds/native/project.ts'
import { build, buildBundle } from '../src/testing/fixtures/builders.ts'
import { buildProject } from '../src/testing/fixtures/projects.ts'
import { startTestHub } from '../src/testing/hub/test-hub.ts'
import type { TestHub } from '../src/testing/hub/test-hub.ts'

const [projects = 200] = process.argv.slice(2).map(Number)
const ROUNDS = 5
const REQUESTS = 1000
const SPELL = 20

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

async function hubWith(count: number): Promise<TestHub> {
  const hub = await startTestHub(`bench-${count}`)
  await hub.client.create(Namespace, build(Namespace, 'team-0', {}))
  for (let i = 0; i < count; i++) {
    const sources = Array.from({ length: 10 }, (_, at) => `https://git.example.com/team-${i}/${at}/*`)
    const spec = { sources: ['inline', ...sources] }
    await hub.client.create(Project, buildProject(`team-${i}`, [`team-${i}`], spec))
  }
  return hub
}

/**
 * Milliseconds of one request on each hub, over a round of requests. Short spells take turns, so that both hubs see the
 * same machine.
 */
async function roundOf(hubs: readonly TestHub[]): Promise<number[]> {
  const spent = hubs.map(() => 0)
  for (let done = 0; done < REQUESTS; done += SPELL) {
    for (const [at, hub] of hubs.entries()) {
      const before = cpuMs()
      for (let i = 0; i < SPELL; i++) await hub.client.create(Bundle, buildBundle('team-0/x'), { dryRun: true })
      spent[at]! += cpuMs() - before
    }
  }
  return spent.map((ms) => ms / REQUESTS)
}

const hubs = [await hubWith(1), await hubWith(projects)]
await roundOf(hubs)
const rounds: number[][] = []
for (let round = 0; round < ROUNDS; round++) rounds.push(await roundOf(hubs))
const middle = (times: readonly number[]) => times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
const [one, many] = [0, 1].map((at) => middle(rounds.map((times) => times[at]!))) as [number, number]
process.stdout.write(
  `1 Project: ${one.toFixed(3)} ms, ${projects} Projects: ${many.toFixed(3)} ms, ratio ${(many / one).toFixed(2)}\n`,
)
for (const hub of hubs) await hub.close()
process.exit(0)
