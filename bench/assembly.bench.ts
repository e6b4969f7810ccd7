/**
 * Cost of Projects for the assembly of documents: node bench/assembly.bench.ts [PROJECTS]. A cluster with 200 Bundles
 * gets a new generation of each, with one Project on the hub and with many, in turns; the median of five rounds each.
 * Measured is the CPU time of this thread.
 */
import { digestOf } from '../src/core/crypto/digest.ts'
import { assignmentAssembleReconciler } from '../src/controllers/assignment-assemble/reconcile.ts'
import type { AssignmentAssemblePorts } from '../src/controllers/assignment-assemble/ports.ts'
import { createKeyedThrottle } from '../src/engine/keyed-throttle.ts'
import type { Assignment } from '../src/kinds/native/assignment.ts'
import type { Project } from '../src/kinds/native/project.ts'
import type { AssembledEntry } from '../src/plan/document/assemble-document.ts'
import { indexProjects, projectOf } from '../src/plan/projects/project-of.ts'
import { createVirtualClock } from '../src/sim/kernel/virtual-clock.ts'
import { buildCluster } from '../src/testing/fixtures/builders.ts'
import { buildProject } from '../src/testing/fixtures/projects.ts'
import { buildTrust } from '../src/testing/fixtures/wire-builders.ts'
import { reconcileOnce } from '../src/testing/reconcile-once.ts'
import { signDocument } from '../src/wire/document/signed-document.ts'

const [projects = 200] = process.argv.slice(2).map(Number)
const ROUNDS = 5
const DOCUMENTS = 50
const BUNDLES = 200
const LIMITS = { kinds: ['ConfigMap', 'apps/*'], targetNamespaces: ['team-*'], executors: { ownRights: true } }
const OBJECTS = Array.from({ length: 20 }, (_, at) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  namespace: `team-${at}`,
  name: 'web',
}))

function hubWith(count: number) {
  const clock = createVirtualClock()
  const { signer } = buildTrust().trust
  const blobs = new Map<string, Uint8Array>()
  const all: Project[] = Array.from({ length: count }, (_, i) => buildProject(`team-${i}`, [`team-${i}`], LIMITS))
  const index = indexProjects(all)
  let assignment: Assignment | undefined
  let admissions: AssembledEntry[] = []
  const ports: AssignmentAssemblePorts = {
    projectOf: (namespace) => projectOf(index, namespace),
    factsOf: async () => ({ requires: [], objects: OBJECTS }),
    freezeOf: () => undefined,
    assignmentOf: () => assignment,
    wellOf: () => new Set(),
    admissionsOf: () => admissions,
    removalsOf: () => [],
    removedOf: () => [],
    begun: () => undefined,
    windows: () => [],
    windowEntryOf: (named) => named,
    driftDecisionsOf: () => [],
    sign: async (document) => signDocument(signer, document),
    putBlob: async (bytes) => {
      blobs.set(digestOf(bytes), bytes)
      return digestOf(bytes)
    },
    seal: async () => undefined,
    requiredBy: async () => [],
    getBlob: async (digest) => blobs.get(digest),
    createAssignment: async (made) => void (assignment = made),
    updateAssignment: async (made) => void (assignment = made),
    deleteAssignment: async () => {},
    epoch: () => 1,
    trustVersion: () => 1,
    clustersAhead: () => [],
    pace: createKeyedThrottle(clock, 1000),
  }
  const reconciler = assignmentAssembleReconciler(ports)
  const cluster = buildCluster('a')
  let generation = 0
  return async (): Promise<number> => {
    const { user, system } = process.threadCpuUsage()
    for (let i = 0; i < DOCUMENTS; i++) {
      generation += 1
      admissions = Array.from({ length: BUNDLES }, (_, at) => {
        const bundle = `team-0/b-${at}`
        return { bundle, generation, set: digestOf(`${bundle} ${generation}`), rollout: 'team-0/r' }
      })
      await clock.advance(1000)
      const { error } = await reconcileOnce(reconciler, cluster, clock)
      if (error) throw error
      blobs.clear()
    }
    const after = process.threadCpuUsage()
    return (after.user + after.system - user - system) / 1000 / DOCUMENTS
  }
}

const [one, many] = [hubWith(1), hubWith(projects)]
await one()
await many()
const rounds = { one: [] as number[], many: [] as number[] }
for (let round = 0; round < ROUNDS; round++) {
  rounds.one.push(await one())
  rounds.many.push(await many())
}
const middle = (times: number[]) => times.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
process.stdout.write(
  `1 Project: ${middle(rounds.one).toFixed(3)} ms, ${projects} Projects: ${middle(rounds.many).toFixed(3)} ms, ratio ${(middle(rounds.many) / middle(rounds.one)).toFixed(2)}\n`,
)
