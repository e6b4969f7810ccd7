// Builds the console's page into console/dist, if it is not there as the sources are now. The hub of a clone runs this
// when the page is first wanted.
import { endChildrenWithScript } from './child.ts'
import { buildConsole } from './console-workspace.ts'

endChildrenWithScript()
try {
  const isNew = await buildConsole()
  process.stdout.write(isNew ? 'built console/dist\n' : 'console/dist is current\n')
} catch (caught) {
  process.stderr.write(`${caught instanceof Error ? caught.message : String(caught)}\n`)
  process.exitCode = 1
}
