import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Stalled } from '../../core/errors.ts'
import { withBackupErrors } from './backup-error.ts'
import { CliError } from './cli-error.ts'

test('an error of the backup code keeps its parts and gets the exit code of its reason', async () => {
  const cases = [
    ['NoDatabase', 2],
    ['NotEmpty', 2],
    ['NoBackup', 3],
    ['KeysMissing', 2],
  ] as const
  for (const [reason, exitCode] of cases) {
    const thrown: unknown = await withBackupErrors(async () => {
      throw new Stalled(reason, 'cause', { where: '/b', todo: 'a hint' })
    }).catch((caught: unknown) => caught)
    assert.ok(thrown instanceof CliError)
    assert.equal(thrown.exitCode, exitCode)
    assert.deepEqual(thrown.report, { what: 'cause', where: '/b', todo: 'a hint' })
  }
  assert.equal(await withBackupErrors(async () => 7), 7)
  await assert.rejects(
    withBackupErrors(async () => {
      throw new Stalled('BackupDamaged', 'x')
    }),
    Stalled,
  )
})
