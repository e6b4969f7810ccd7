import { after, before, describe, it } from 'node:test'
import type { Api } from '../testing/api-contract-harness.ts'
import { openBareControlPlaneHome, openEmbeddedHome } from '../testing/api-contract-home.ts'
import type { ApiUnderTest } from '../testing/api-contract.ts'
import { compareHomes, readyForHistories } from '../testing/apply-history-home.ts'
import { SUBJECTS } from '../testing/apply-history-subjects.ts'

const SEED = Number(process.env['FLOTILLA_SEED'] ?? 1)
const RUNS = Number(process.env['FLOTILLA_SEEDS'] ?? 2000)

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
    it(subject, () => compareHomes({ real, ours }, subject, { seed: SEED, runs: RUNS }))
  }
})
