# Who this user is.
import os, pwd
user = pwd.getpwuid(os.getuid())
answer({"name": user.pw_name, "uid": user.pw_uid, "gid": user.pw_gid, "home": user.pw_dir})
