import { hookctlCommand } from '../terminal/command.ts';
import { typedPath } from '../terminal/files.ts';

export const command = hookctlCommand(
  'partner-kit',
  'Writes what a partner needs: the guide, the API description, samples, and the checker as one file.',
)
  .argument('<folder>', 'new folder to write to', typedPath)
  .action(async (folder) => {
    const { writePartnerKit } = await import('../check-sender/partner-kit.ts');
    const files = writePartnerKit(folder);
    console.log(`Wrote ${files.length} files. Begin with README.md.`);
  });
