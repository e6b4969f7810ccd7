import { after, before, describe, it } from 'node:test'
import type { Api } from '../../testing/api-contract/harness.ts'
import { openEmbeddedHome } from '../../testing/api-contract/homes.ts'
import type { ApiUnderTest } from '../../testing/api-contract/api-contract.ts'
import { readyForHistories, recordedHistories, recordedName } from '../../testing/api-contract/apply-history/homes.ts'
import { SUBJECTS } from '../../testing/api-contract/apply-history/subjects.ts'
import { assertSame, play } from '../../testing/api-contract/apply-history/apply-history.ts'

describe('histories of writes end as a kube-apiserver recorded them', () => {
  let home: ApiUnderTest
  let api: Api
  before(async () => {
    home = await openEmbeddedHome()
    api = await readyForHistories(home)
  })
  after(() => home?.cleanup())
  for (const [index, { subject, steps, outcomes }] of recordedHistories().entries()) {
    it(`${index}: ${subject}, ${steps.map(({ how, at }) => (at ? `${how} ${at}` : how)).join(', ')}`, async () => {
      const about = SUBJECTS[subject]!
      assertSame({ subject: about, steps }, outcomes, await play(api, about, steps, recordedName(index)))
    })
  }
})
