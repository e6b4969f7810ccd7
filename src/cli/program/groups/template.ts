import type { Command } from 'commander'
import { writeBytes } from '../../executable/process-output.ts'
import { addTemplateFlags } from '../../template/helm-flags.ts'
import type { Act } from '../command-action.ts'

/** Commands about charts without a hub. */
export function addRendering(program: Command, act: Act): void {
  const command = program
    .command('template')
    .argument('<words...>', '[NAME] CHART')
    .description('render a Helm chart as `helm template` does, without helm and without a hub')
  addTemplateFlags(command).action(
    act(async (run, words, flags) => {
      const { template } = await import('../../commands/preview/template.ts')
      const toStdout = run.writeBytes ?? ((bytes: Uint8Array) => writeBytes('stdout', bytes))
      return await template(words, { ...run, writeBytes: toStdout }, flags)
    }),
  )
}
