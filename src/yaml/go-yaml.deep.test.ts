import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { compareKustomize, compareReading, compareWriting } from '../testing/yaml/compare.ts'
import { chanceOf, hardValue, yamlDocument, yamlSoup } from '../testing/yaml/generated-texts.ts'

const BATCHES = 40
const PER_BATCH = 5_000

for (const helm of ['helm', 'helm3'] as const) {
  describe(`${BATCHES * PER_BATCH} random cases and the real ${helm}`, { timeout: 3_600_000 }, () => {
    it('are read alike', () => {
      for (let seed = 0; seed < BATCHES; seed++) {
        const chance = chanceOf(1_000 + seed)
        const text = (): string => (chance() < 0.3 ? yamlSoup(chance) : yamlDocument(chance))
        assert.deepEqual(compareReading(helm, Array.from({ length: PER_BATCH }, text)), [], `seed ${seed}`)
      }
    })
    it('are written alike', () => {
      for (let seed = 0; seed < BATCHES; seed++) {
        const chance = chanceOf(2_000 + seed)
        const values = Array.from({ length: PER_BATCH }, () => hardValue(chance))
        assert.deepEqual(compareWriting(helm, values), [], `seed ${seed}`)
      }
    })
  })
}

describe('random resources and the real kustomize', { timeout: 3_600_000 }, () => {
  it('are read and written alike', () => {
    for (let seed = 0; seed < 20; seed++) assert.deepEqual(compareKustomize(chanceOf(seed), 1_000), [], `seed ${seed}`)
  })
})
