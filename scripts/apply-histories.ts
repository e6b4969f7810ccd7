// Renews what a real kube-apiserver of the test environment answers to histories of writes: `npm run apply-histories`.
import { writeFileSync } from 'node:fs'
import { openBareControlPlaneHome } from '../src/testing/api-contract/homes.ts'
import {
  HISTORIES_FILE,
  historiesToRecord,
  readyForHistories,
  recordedName,
} from '../src/testing/api-contract/apply-history/homes.ts'
import { SUBJECTS } from '../src/testing/api-contract/apply-history/subjects.ts'
import { play } from '../src/testing/api-contract/apply-history/apply-history.ts'

const home = await openBareControlPlaneHome()
try {
  const api = await readyForHistories(home)
  const lines: string[] = []
  for (const [index, history] of historiesToRecord().entries()) {
    const outcomes = await play(api, SUBJECTS[history.subject]!, history.steps, recordedName(index))
    lines.push(JSON.stringify({ ...history, outcomes }))
  }
  writeFileSync(HISTORIES_FILE, `${lines.join('\n')}\n`)
  process.stdout.write(`${lines.length} histories in ${HISTORIES_FILE.pathname}\n`)
} finally {
  await home.cleanup()
}
process.exit(0)
