// Random command lines over odd charts, a helm process for each: the same bytes, files and exit status, or the same
// error.
import assert from 'node:assert/strict'
import test from 'node:test'
import { oddCommand } from '../../../testing/helm/fuzz/odd-commands.ts'
import { differences } from '../../../testing/helm/run-command.ts'
import { findBinary } from '../../../testing/testenv.ts'

const COUNT = Number(process.env['FUZZ_COMMANDS'] ?? 1500)
const FIRST_SEED = Number(process.env['FUZZ_SEED'] ?? 1)

for (const version of ['helm4', 'helm3'] as const) {
  const binary = findBinary(version === 'helm4' ? 'helm' : 'helm3')
  test(
    `${version}: random command lines over odd charts`,
    { skip: binary === undefined ? 'no helm' : false },
    async () => {
      const commands = function* () {
        for (let seed = FIRST_SEED; seed < FIRST_SEED + COUNT; seed++) yield [`seed ${seed}`, oddCommand(seed)] as const
      }
      const different = await differences(commands(), { version, binary: binary! })
      assert.deepEqual(different.slice(0, 10), [], `${different.length} differ`)
    },
  )
}
