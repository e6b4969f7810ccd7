// The two homes histories are played on, and the recorded answers of the real one.
import { readFileSync } from 'node:fs'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { setTimeout as sleep } from 'node:timers/promises'
import { createApi } from '../harness.ts'
import type { Api } from '../harness.ts'
import { openBareControlPlaneHome, openEmbeddedHome } from '../homes.ts'
import type { ApiUnderTest } from '../api-contract.ts'
import { assertSame, play } from './apply-history.ts'
import type { History, Outcome } from './apply-history.ts'
import { historiesOf, SUBJECTS, WIDGET_DEFINITION } from './subjects.ts'

/** A history and what a kube-apiserver answered. */
export interface Recorded extends History {
  readonly outcomes: readonly Outcome[]
}

/** Where the answers of a real kube-apiserver are kept; `npm run apply-histories` renews them. */
export const HISTORIES_FILE = new URL('../../fixtures/apply-histories.jsonl', import.meta.url)

const NAMESPACE = 'histories'
const SEED = 2026
const EACH = 8

/** Plays random histories on both homes; `runs` of each kind unless the environment says how many. */
export function historySuite(runs: number): void {
  const options = {
    seed: Number(process.env['FLOTILLA_SEED'] ?? 1),
    runs: Number(process.env['FLOTILLA_SEEDS'] ?? runs),
  }
  describe('random histories of writes end alike on our server and a kube-apiserver', () => {
    const homes: ApiUnderTest[] = []
    let real: Api
    let ours: Api
    before(async () => {
      homes.push(await openBareControlPlaneHome(), await openEmbeddedHome())
      real = await readyForHistories(homes[0]!)
      ours = await readyForHistories(homes[1]!)
    })
    after(() => Promise.all(homes.map((home) => home.cleanup())))
    for (const subject of Object.keys(SUBJECTS)) {
      it(subject, () => compareHomes({ real, ours }, subject, options))
    }
  })
}

/** Makes a home ready: the namespace is there and the custom kind is served. */
export async function readyForHistories({ transport }: ApiUnderTest): Promise<Api> {
  const api = createApi(transport, NAMESPACE)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } }
  await api.ok('POST', '/api/v1/namespaces', namespace)
  await api.ok('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', WIDGET_DEFINITION)
  const { group, plural, versions } = SUBJECTS['twofold']!
  // Each version is served on its own, and an apply needs its schema, too.
  for (const version of versions) {
    const probe = {
      apiVersion: `${group}/${version}`,
      kind: 'Widget',
      metadata: { name: 'probe' },
      spec: { words: [] },
    }
    const path = `/apis/${group}/${version}/namespaces/${NAMESPACE}/${plural}/probe`
    for (let tries = 0; (await applied(api, path, probe)) !== 201; tries++) {
      if (tries > 300) throw new Error(`${plural}.${group} ${version} was not served`)
      await sleep(100)
    }
  }
  return api
}

async function applied(api: Api, path: string, body: object): Promise<number> {
  const contentType = 'application/apply-patch+yaml'
  return (await api.send('PATCH', `${path}?fieldManager=probe&dryRun=All`, { body, contentType })).status
}

/** Compares histories of a subject between a kube-apiserver and ours; fast-check makes the failing one small. */
export async function compareHomes(
  homes: { readonly real: Api; readonly ours: Api },
  subject: string,
  how: { readonly seed: number; readonly runs: number },
): Promise<void> {
  let next = 0
  const property = fc.asyncProperty(historiesOf(subject), async ({ steps }) => {
    const name = `${subject}-${how.seed}-${next++}`
    const about = SUBJECTS[subject]!
    const [real, ours] = await Promise.all([play(homes.real, about, steps, name), play(homes.ours, about, steps, name)])
    assertSame({ subject: about, steps }, real, ours)
  })
  await fc.assert(property, { seed: how.seed, numRuns: how.runs, endOnFailure: false })
}

/** The histories whose answers are recorded. */
export function historiesToRecord(): History[] {
  return Object.keys(SUBJECTS).flatMap((subject) => fc.sample(historiesOf(subject), { seed: SEED, numRuns: EACH }))
}

/** The name of the object of a recorded history. */
export function recordedName(index: number): string {
  return `recorded-${index}`
}

/** What was recorded. */
export function recordedHistories(): Recorded[] {
  const lines = readFileSync(HISTORIES_FILE, 'utf8').trimEnd().split('\n')
  return lines.map((line) => JSON.parse(line) as Recorded)
}
