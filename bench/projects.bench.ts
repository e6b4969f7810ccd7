/**
 * Cost of Projects at API admission: node bench/projects.bench.ts [PROJECTS]. Bundles are created as dry runs on the
 * embedded API in memory, with one Project and with many, in turns; the median of five rounds each. Measured is the CPU time of this
 * thread.
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
const REQUESTS = 200

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

/** Milliseconds of one request, over a round of requests. */
async function roundOf(hub: TestHub, round: number): Promise<number> {
  const before = cpuMs()
  for (let i = 0; i < REQUESTS; i++) {
    const bundle = buildBundle('team-0/x')
    const named = { ...bundle, metadata: { ...bundle.metadata, name: `x-${round}-${i}` } }
    await hub.client.create(Bundle, named, { dryRun: true })
  }
  return (cpuMs() - before) / REQUESTS
}

const [one, many] = [await hubWith(1), await hubWith(projects)]
await roundOf(one, -1)
await roundOf(many, -1)
const rounds = { one: [] as number[], many: [] as number[] }
for (let round = 0; round < ROUNDS; round++) {
  rounds.one.push(await roundOf(one, round))
  rounds.many.push(await roundOf(many, round))
}
const middle = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
process.stdout.write(
  `1 Project: ${middle(rounds.one).toFixed(3)} ms, ${projects} Projects: ${middle(rounds.many).toFixed(3)} ms, ratio ${(middle(rounds.many) / middle(rounds.one)).toFixed(2)}\n`,
)
await one.close()
await many.close()
process.exit(0)
