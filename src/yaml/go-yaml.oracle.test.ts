import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, it } from 'node:test'
import { compareKustomize, compareReading, compareWriting } from '../testing/yaml/compare.ts'
import { chanceOf, hardValue, yamlDocument, yamlSoup } from '../testing/yaml/generated-texts.ts'

function recorded<T>(name: string): T[] {
  return JSON.parse(readFileSync(new URL(`./testdata/${name}.json`, import.meta.url), 'utf8')) as T[]
}

for (const helm of ['helm', 'helm3'] as const) {
  describe(`the real ${helm}`, { timeout: 120_000 }, () => {
    it('reads the recorded texts as we do', () => {
      const texts = recorded<{ text: string }>('read').map(({ text }) => text)
      assert.deepEqual(compareReading(helm, texts), [])
    })
    it('writes the recorded values as we do', () => {
      const values = recorded<{ value: string }>('write').map(({ value }) => JSON.parse(value) as unknown)
      assert.deepEqual(compareWriting(helm, values), [])
    })
    it('reads and writes random cases as we do', () => {
      const chance = chanceOf(1)
      const texts = Array.from({ length: 2_000 }, () => (chance() < 0.3 ? yamlSoup(chance) : yamlDocument(chance)))
      assert.deepEqual(compareReading(helm, texts), [])
      assert.deepEqual(
        compareWriting(
          helm,
          Array.from({ length: 1_000 }, () => hardValue(chance)),
        ),
        [],
      )
    })
  })
}

describe('the real kustomize', { timeout: 120_000 }, () => {
  it('reads and writes resources as we do', () => {
    assert.deepEqual(compareKustomize(chanceOf(1), 300), [])
  })
})
