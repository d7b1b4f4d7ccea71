/** Names, or names with a first argument, of what is high however it is called, by what it does. */
export const highs: readonly (readonly [does: string, names: string])[] = [
  [
    "reaches the network",
    `
      curl wget ssh scp sftp ftp tftp nc ncat netcat socat telnet aria2c lynx links w3m http https xh`,
  ],
  [
    "reaches the network",
    `
      dig nslookup host whois ping ping6 traceroute tracepath mtr nmap openssl ssh-keyscan ssh-add`,
  ],
  [
    "reaches the network",
    `
      gh glab aws gcloud az s3cmd rclone restic borg mail sendmail mutt msmtp psql mysql redis-cli mongosh`,
  ],
  ["reaches the network", "git+fetch git+pull git+clone git+ls-remote git+send-email git+svn git+lfs git+daemon"],
  ["sends commits to another machine", "git+push"],
  ["deals with credentials", "git+credential git+credential-store git+credential-cache"],
  ["installs software", "apt apt-get aptitude apk yum dnf zypper pacman brew gem snap flatpak composer pipx conda"],
  [
    "installs software",
    `
      npm+install npm+i npm+ci npm+add npm+update npm+publish npm+exec npm+audit npm+link pnpm+install pnpm+add
      yarn+install yarn+add bun+install bun+add`,
  ],
  [
    "installs software",
    `
      pip+install pip3+install pip+download uv+add uv+pip uv+sync uv+tool poetry+add poetry+install`,
  ],
  ["installs software", "go+get go+install cargo+install cargo+add cargo+publish"],
  ["steers containers", "docker podman nerdctl kubectl helm crictl ctr runc"],
  ["runs as another user", "sudo doas su pkexec runuser"],
  ["runs commands later", "at batch crontab"],
  [
    "overwrites files or disks",
    "dd shred wipefs mkfs mke2fs mkswap fdisk sfdisk parted hdparm debugfs losetup blkdiscard",
  ],
  [
    "reaches for the machine",
    `
      mount umount swapon swapoff chroot nsenter unshare pivot_root setpriv capsh modprobe insmod rmmod kexec`,
  ],
  [
    "reaches for the machine",
    `
      sysctl iptables ip6tables nft ip ifconfig route tc systemctl service reboot shutdown poweroff halt init`,
  ],
  ["reaches for the machine", "useradd usermod userdel passwd chpasswd visudo setcap mknod bpftool keyctl"],
  ["looks into other processes", "strace ltrace gdb gdbserver perf bpftrace lldb gcore"],
];
